"""Why a signature is refused: one stable code per reason, with what it means and what to do."""

from __future__ import annotations

from typing import NamedTuple

from ..report.errors import Refused
from ..report.finding import Finding, Location, Severity
from ..report.rule import Rule


class Reason(NamedTuple):
    """What a code stands for. `allow`: whether `--allow` takes it, `no`, `yes`, or `path` for one path at a time."""

    summary: str
    hint: str
    allow: str = "no"


SIGN_AGAIN = "sign again with interlock sign"
NOT_THIS = "do not use this model; get it and its signature again from the publisher"
RESTORE = "restore what was signed, or sign again if the change is yours"

REASONS: dict[str, Reason] = {
    # The bundle
    "VER-UNSIGNED": Reason("there is no signature", "sign it with interlock sign, or name the bundle with --signature"),
    "VER-OVERSIZED": Reason("the bundle or its manifest is larger than any honest one", NOT_THIS),
    "VER-MALFORMED": Reason("the bundle is not the JSON that its format asks for", NOT_THIS),
    "VER-DUPLICATE-KEY": Reason("a JSON object holds one key twice: readers disagree on its meaning", NOT_THIS),
    "VER-MEDIA-TYPE": Reason("the bundle is of a format or version that is not accepted", SIGN_AGAIN),
    "VER-PAYLOAD-TYPE": Reason("the envelope does not hold an in-toto statement", NOT_THIS),
    "VER-SIGNATURE-COUNT": Reason("the envelope does not hold exactly one signature", SIGN_AGAIN),
    "VER-SIGNATURE": Reason("the signature does not match what it claims to sign", NOT_THIS),
    "VER-STATEMENT-TYPE": Reason("the statement or predicate is of an unknown or outdated type", SIGN_AGAIN),
    "VER-SUBJECT": Reason("the statement does not name exactly one subject with one SHA-256 digest", NOT_THIS),
    "VER-ROOT-DIGEST": Reason("the root digest is not the digest of the listed files", NOT_THIS),
    # Who signed
    "VER-MODE": Reason("the policy does not accept this kind of signature", "see trust.mode in interlock.yaml"),
    "VER-KEY": Reason("signed by a key that is not trusted", "add the signer's public key to trust.keys if it is one"),
    "VER-KEY-TYPE": Reason("the signer's key is of a kind that is not accepted", "use ECDSA P-256, P-384 or P-521"),
    "VER-CHAIN": Reason("the certificate does not lead to a trusted authority", "name the right CA with --ca"),
    "VER-EXPIRED": Reason("the certificate had expired", "sign again with a valid certificate", "yes"),
    "VER-NOT-YET-VALID": Reason("the certificate was not valid yet", "check the clock of both machines"),
    "VER-CERTIFICATE-PURPOSE": Reason(
        "the certificate was not issued for code signing", "ask for one with digitalSignature and codeSigning"
    ),
    "VER-IDENTITY": Reason("the signer is none of the trusted identities", "see trust.identities in interlock.yaml"),
    "VER-IDENTITY-COUNT": Reason("the certificate does not name exactly one identity", NOT_THIS),
    "VER-WEAK-PATTERN": Reason("the identity pattern lets strangers in", "anchor it, escape dots, end in a delimiter"),
    "VER-ISSUER-NOT-PINNED": Reason(
        "the policy does not say which OIDC issuer it trusts", "set issuer for the identity"
    ),
    "VER-TRANSPARENCY": Reason("the transparency log, certificate log or its proof is missing or wrong", NOT_THIS),
    "VER-TIMESTAMP": Reason("a trusted timestamp is missing or wrong", "sign with a timestamp authority"),
    "VER-ROOT-AGE": Reason("the trust root is older than the policy allows", "fetch a current trust root", "yes"),
    "VER-TOO-OLD": Reason("the signature is older than the policy allows", SIGN_AGAIN, "yes"),
    "VER-DENIED": Reason("the deny list names this digest, key or identity", "use another version"),
    "VER-ROLLBACK": Reason("the signed version is lower than the policy allows", "use a newer version"),
    # What was signed
    "VER-EMPTY": Reason("the signature covers no file", "sign the directory that holds the model"),
    "VER-NAME": Reason(
        "a file name means different things on different systems", "rename the file and sign again", "path"
    ),
    "VER-TRAVERSAL": Reason("a file name leads out of the model directory", NOT_THIS),
    "VER-DUPLICATE-NAME": Reason("the manifest names a file twice", NOT_THIS),
    "VER-TWINS": Reason("two names are one file on some systems", "rename one of them and sign again", "path"),
    "VER-ALGORITHM": Reason("a digest algorithm is not accepted", "see trust.digests in interlock.yaml"),
    "VER-ALGORITHM-MISMATCH": Reason("a file's algorithm contradicts the manifest's", NOT_THIS),
    "VER-DIGEST-FORM": Reason("a digest is not the lower-case hexadecimal of its algorithm's length", NOT_THIS),
    "VER-SHARDS": Reason("the shards of a file do not cover it exactly once", SIGN_AGAIN),
    "VER-BUNDLE-IN-TREE": Reason("the bundle lists itself as a file of the model", SIGN_AGAIN),
    # What is on disk
    "VER-CHANGED": Reason("a file is not the one that was signed", RESTORE),
    "VER-MISSING": Reason("a signed file is missing", RESTORE),
    "VER-EXTRA": Reason("a file is not covered by the signature", "remove it, or sign again with it", "path"),
    "VER-IGNORED": Reason(
        "the signer left a path uncovered, and something is there", "remove it, or allow it by name", "path"
    ),
    "VER-SYMLINK": Reason("a symbolic link: what it leads to is not covered", "replace it with the file"),
    "VER-SPECIAL-FILE": Reason("neither a regular file nor a directory", "remove it"),
    "VER-CHANGED-WHILE-READING": Reason("something changed while it was read", "stop the writer and verify again"),
    # What the content can do (see content/): signed does not mean safe
    "VER-PICKLE": Reason("loading this file can run code", "convert the weights to safetensors", "path"),
    "VER-PICKLE-IMPORT": Reason("loading this file runs code from a module outside the safe list", NOT_THIS, "path"),
    "VER-REMOTE-CODE": Reason(
        "the model brings Python code that servers are asked to run", "review it, then allow it", "path"
    ),
    "VER-EXTERNAL-DATA": Reason("the graph reads files outside the model directory", NOT_THIS, "path"),
    "VER-CUSTOM-OP": Reason(
        "the graph needs custom operators or Lambda layers: code from elsewhere", "review it, then allow it", "path"
    ),
    "VER-ARCHIVE": Reason("an archive inside the model: its content was not looked at", "unpack it", "path"),
}


# Why the reasons of a group are reasons; a group starts with the code given.
_WHY = {
    "VER-UNSIGNED": "a bundle that two readers understand differently vouches for nothing",
    "VER-MODE": "who signed is all that a signature says: anyone can sign, only some are trusted",
    "VER-EMPTY": "a manifest that names files loosely lets other content pass under the same signature",
    "VER-CHANGED": "what is loaded has to be what was signed, byte for byte, with nothing beside it",
    "VER-PICKLE": "a signature tells where content comes from; it does not make loading it harmless",
}


def refusal(
    code: str, what: object, reason: str = "", *, hint: str = "", line: int | None = None, column: int | None = None
) -> Refused:
    """The error for a refusal that ends verification."""
    entry = REASONS[code]
    return Refused(what, reason or entry.summary, hint=hint or entry.hint, line=line, column=column, code=code)


def finding(
    code: str, path: str, message: str = "", *, severity: Severity = Severity.ERROR, hint: str = "", thing: str = ""
) -> Finding:
    """The finding for a refusal; verification goes on, so that everything wrong is named at once."""
    entry = REASONS[code]
    return Finding(
        rule=code,
        name=slug(code),
        severity=severity,
        message=message or entry.summary,
        where=Location(path, object=thing),
        hint=hint or entry.hint,
    )


def slug(code: str) -> str:
    """The readable name of a code: VER-CHANGED-WHILE-READING is changed-while-reading."""
    return code.removeprefix("VER-").lower()


def rules() -> tuple[Rule, ...]:
    """The reasons as rules, for SARIF and `explain`."""
    whys: dict[str, str] = {}
    why = ""
    for code in REASONS:
        why = whys[code] = _WHY.get(code, why)
    allowed = {"no": "none: it cannot be allowed", "yes": "--allow {}", "path": "--allow {}=PATH, for one path"}
    return tuple(
        Rule(
            id=code,
            name=slug(code),
            family="verify",
            severity=Severity.ERROR,
            summary=entry.summary,
            what=entry.summary,
            why=whys[code],
            hint=entry.hint,
            example="text",
            exemptions=(allowed[entry.allow].format(code),),
        )
        for code, entry in REASONS.items()
    )
