// The third client: sigstore-js checks a bundle against a trusted root. Arguments: bundle, trusted root, identity, issuer
// (the last two may be absent, for bundles of a bare key given as PEM in the environment variable KEY).
'use strict';
const fs = require('fs');
const { bundleFromJSON } = require('@sigstore/bundle');
const { TrustedRoot } = require('@sigstore/protobuf-specs');
const { Verifier, toSignedEntity, toTrustMaterial } = require('@sigstore/verify');
const crypto = require('crypto');

const [, , bundlePath, rootPath, identity, issuer] = process.argv;
try {
  const bundle = bundleFromJSON(JSON.parse(fs.readFileSync(bundlePath)));
  const root = TrustedRoot.fromJSON(JSON.parse(fs.readFileSync(rootPath)));
  const keyless = identity !== undefined;
  const finder = () => ({ publicKey: crypto.createPublicKey(process.env.KEY), validFor: () => true });
  const material = keyless ? toTrustMaterial(root) : toTrustMaterial(root, finder);
  const options = keyless ? {} : { tlogThreshold: 0, ctlogThreshold: 0, timestampThreshold: 0, tsaThreshold: 0 };
  const policy = keyless ? { subjectAlternativeName: identity, extensions: { issuer } } : undefined;
  new Verifier(material, options).verify(toSignedEntity(bundle), policy);
  process.exit(0);
} catch (error) {
  process.stdout.write(`${error.code || error.name}: ${error.message}\n`);
  process.exit(1);
}
