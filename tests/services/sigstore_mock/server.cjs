// Fulcio, a certificate log, Rekor v1 and v2, a timestamp authority and OIDC discovery on one loopback port.
//
// The services are those of @sigstore/mock, which are made to intercept requests inside one process. Four adapters make
// them speak what real clients send. Prints one JSON line, {url, root, v1, v2}, where v1 and v2 are client trust configs
// for the two Rekor versions; ends when stdin closes.
'use strict';
const crypto = require('crypto');
const http = require('http');
const asn1js = require('asn1js');
const pkijs = require('pkijs');
const mock = require('@sigstore/mock');

const pair = (curve) => crypto.generateKeyPairSync('ec', { namedCurve: curve });
const b64 = (data) => Buffer.from(data).toString('base64');
const sha256 = (data) => crypto.createHash('sha256').update(data).digest();
const START = { start: '2020-01-01T00:00:00Z' };

// Fulcio: clients send the request as base64 of PEM and the token in a header; the mock reads both from the body.
function fulcioBody(body, headers) {
  const json = JSON.parse(body);
  return JSON.stringify({
    credentials: { oidcIdentityToken: (headers.authorization || '').replace(/^Bearer /, '') },
    certificateSigningRequest: Buffer.from(json.certificateSigningRequest, 'base64').toString(),
  });
}

// Rekor v1: a log stores the canonical entry, not the proposal.
function canonicalDsse(proposal) {
  if (proposal.kind !== 'dsse') return proposal;
  const content = proposal.spec.proposedContent;
  const envelope = JSON.parse(content.envelope);
  return {
    apiVersion: '0.0.1',
    kind: 'dsse',
    spec: {
      envelopeHash: { algorithm: 'sha256', value: sha256(content.envelope).toString('hex') },
      payloadHash: { algorithm: 'sha256', value: sha256(Buffer.from(envelope.payload, 'base64')).toString('hex') },
      signatures: [{ signature: envelope.signatures[0].sig, verifier: content.verifiers[0] }],
    },
  };
}

// Rekor v2: the canonical entry again, and the answer as a transparency log entry of the bundle format.
async function rekorV2(tlog, proposal) {
  const request = proposal.hashedRekordRequestV002;
  const entry = Object.values(
    await tlog.log({
      apiVersion: '0.0.2',
      kind: 'hashedrekord',
      spec: {
        hashedRekordV002: { data: { algorithm: 'SHA2_256', digest: request.digest }, signature: request.signature },
      },
    }),
  )[0];
  const proof = entry.verification.inclusionProof;
  return {
    logIndex: String(proof.logIndex),
    logId: { keyId: b64(Buffer.from(entry.logID, 'hex')) },
    kindVersion: { kind: 'hashedrekord', version: '0.0.2' },
    integratedTime: '0',
    inclusionPromise: null,
    inclusionProof: {
      logIndex: String(proof.logIndex),
      rootHash: b64(Buffer.from(proof.rootHash, 'hex')),
      treeSize: String(proof.treeSize),
      hashes: [],
      checkpoint: { envelope: proof.checkpoint },
    },
    canonicalizedBody: entry.body,
  };
}

// TSA: clients send DER.
function timestampRequest(body) {
  const der = asn1js.fromBER(body.buffer.slice(body.byteOffset, body.byteOffset + body.length));
  const request = new pkijs.TimeStampReq({ schema: der.result });
  return {
    artifactHash: Buffer.from(request.messageImprint.hashedMessage.valueBlock.valueHexView),
    hashAlgorithmOID: request.messageImprint.hashAlgorithm.algorithmId,
    nonce: request.nonce,
    policyOID: '1.3.6.1.4.1.57264.2',
    certReq: true,
  };
}

async function main() {
  const server = http.createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${server.address().port}`;
  // A clock set from outside dates certificates, log entries and timestamps.
  const clock = process.argv[2] ? new Date(process.argv[2]) : undefined;
  const ctlog = await mock.initializeCTLog(pair('P-256'), clock);
  const ca = await mock.initializeCA(pair('P-384'), ctlog, clock);
  const tlog = await mock.initializeTLog(url, pair('P-256'), clock);
  const tsa = await mock.initializeTSA(pair('P-384'), clock);
  // The mock encodes every nonce as a small number; an exact one needs the client's own integer.
  const plain = tsa.tstInfo.bind(tsa);
  tsa.tstInfo = (request) => Object.assign(plain({ ...request, nonce: 1 }), { nonce: request.nonce });
  // Whole seconds: sigstore-js misreads some fractions.
  const now = tsa.getCurrentTime;
  tsa.getCurrentTime = () => new Date(Math.floor(now() / 1000) * 1000);
  const fulcio = mock.fulcioHandler(ca);
  const down = new Set();

  server.on('request', async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const json = (code, value) => {
      response.writeHead(code, { 'Content-Type': 'application/json' });
      response.end(typeof value === 'string' ? value : JSON.stringify(value));
    };
    try {
      if (request.url.startsWith('/test/down/')) {
        down.clear();
        request.url.split('/').slice(3).filter(Boolean).forEach((name) => down.add(name));
        json(200, {});
      } else if ([...down].some((name) => request.url.includes(name))) {
        json(503, { message: 'down for maintenance' });
      } else if (request.url === '/.well-known/openid-configuration') {
        json(200, { issuer: url, authorization_endpoint: `${url}/auth`, token_endpoint: `${url}/token` });
      } else if (request.url === '/api/v2/signingCert') {
        const answer = await fulcio.fn(fulcioBody(body.toString(), request.headers));
        json(answer.statusCode, answer.response);
      } else if (request.url === '/api/v1/log/entries') {
        json(201, await tlog.log(canonicalDsse(JSON.parse(body))));
      } else if (request.url === '/api/v2/log/entries') {
        json(201, await rekorV2(tlog, JSON.parse(body)));
      } else if (request.url === '/api/v1/timestamp') {
        const answer = await tsa.timestamp(timestampRequest(body));
        response.writeHead(201, { 'Content-Type': 'application/timestamp-reply' });
        response.end(answer);
      } else {
        json(404, { message: 'no such service' });
      }
    } catch (error) {
      json(400, { message: String(error) });
    }
  });

  const key = (log) => ({
    baseUrl: url,
    hashAlgorithm: 'SHA2_256',
    publicKey: { rawBytes: b64(log.publicKey), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor: START },
    logId: { keyId: b64(sha256(log.publicKey)) },
  });
  const authority = (name, certificates, uri) => ({
    subject: { organization: 'sigstore.mock', commonName: name },
    uri,
    certChain: { certificates: certificates.map((der) => ({ rawBytes: b64(der) })) },
    validFor: START,
  });
  const root = {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [key(tlog)],
    certificateAuthorities: [authority('sigstore', [ca.rootCertificate], url)],
    ctlogs: [key(ctlog)],
    timestampAuthorities: [authority('tsa', [tsa.intCertificate, tsa.rootCertificate], `${url}/api/v1/timestamp`)],
  };
  const service = (at, version) => [{ url: at, majorApiVersion: version, validFor: START, operator: 'sigstore.mock' }];
  const config = (version) => ({
    mediaType: 'application/vnd.dev.sigstore.clienttrustconfig.v0.1+json',
    trustedRoot: root,
    signingConfig: {
      mediaType: 'application/vnd.dev.sigstore.signingconfig.v0.2+json',
      caUrls: service(url, 1),
      oidcUrls: service(url, 1),
      rekorTlogUrls: service(url, version),
      tsaUrls: service(`${url}/api/v1/timestamp`, 1),
      rekorTlogConfig: { selector: 'ANY' },
      tsaConfig: { selector: 'ANY' },
    },
  });
  process.stdout.write(JSON.stringify({ url, root, v1: config(1), v2: config(2) }) + '\n');
  process.stdin.resume();
  process.stdin.on('end', () => process.exit(0));
}

main();
