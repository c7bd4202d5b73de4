"""Secrets of many kinds, each made for the tests, as they stand in the output of tools."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True)
class Kind:
    """How a secret is shown; `alone` are the parts that must stand nowhere else either."""

    shown: str
    alone: tuple[str, ...]


def _made(name: str, length: int, letters: str = LETTERS) -> str:
    made = "".join(Random(name).choices(letters, k=length - 3))
    return made + "Qz7" if letters == LETTERS else made + made[:3]


def _block(name: str, seed: str, lines: int = 6) -> Kind:
    rows = [_made(f"{seed}{row}", 64) for row in range(lines)] + [_made(seed, 21) + "=="]
    text = "\n".join((f"-----BEGIN {name}-----", *rows, f"-----END {name}-----"))
    return Kind(text, tuple(rows[:-1]))


def _shown(pattern: str, secret: str) -> Kind:
    return Kind(pattern.format(secret), (secret,))


def _kinds() -> Mapping[str, Kind]:
    hexes, upper = "0123456789abcdef", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    basic = b64encode(f"deploy:{_made('basic', 18)}".encode()).decode()
    jwt = f"eyJ{_made('head', 20)}.eyJ{_made('body', 40)}.{_made('tail', 43)}"
    return {
        "anthropic": _shown("export ANTHROPIC={}", f"sk-ant-api03-{_made('an', 40)}"),
        "openai": _shown("using {} now", f"sk-proj-{_made('oa', 44)}"),
        "github": _shown("remote {} ok", f"ghp_{_made('gh', 36)}"),
        "github-fine": _shown("remote {} ok", f"github_pat_{_made('gf', 60)}"),
        "gitlab": _shown("ci {} ok", f"glpat-{_made('gl', 20)}"),
        "aws-id": _shown("id {} end", f"AKIA{_made('aws', 16, upper)}"),
        "aws-secret": _shown("aws_secret_access_key = {}", _made("awss", 40)),
        "google": _shown("maps {} end", f"AIza{_made('goog', 35)}"),
        "google-oauth": _shown("access {} end", f"ya29.{_made('ya', 40)}"),
        "slack": _shown("bot {} end", f"xoxb-123456789012-{_made('sl', 24)}"),
        "slack-hook": _shown("to https://{}", f"hooks.slack.com/services/T01/B02/{_made('h', 24)}"),
        "stripe": _shown("pay {} end", f"sk_live_{_made('st', 24)}"),
        "hugging-face": _shown("hub {} end", f"hf_{_made('hf', 34)}"),
        "npm": _shown("//registry/:_authToken={}", f"npm_{_made('npm', 36)}"),
        "pypi": _shown("upload {} end", f"pypi-{_made('pypi', 60)}"),
        "sendgrid": _shown("mail {} end", f"SG.{_made('sg', 22)}.{_made('sg2', 43)}"),
        "jwt": _shown("session {} end", jwt),
        "age": _shown("# key\n{}\n", f"AGE-SECRET-KEY-1{_made('age', 58, upper)}"),
        "telegram": _shown("bot {} end", f"123456789:AA{_made('tg', 33)}"),
        "vault": _shown("vault {} end", f"hvs.{_made('vault', 30)}"),
        "databricks": _shown("dbx {} end", f"dapi{_made('dbx', 32, hexes)}"),
        "shopify": _shown("shop {} end", f"shpat_{_made('shop', 32, hexes)}"),
        "rsa": _block("RSA PRIVATE KEY", "rsa"),
        "openssh": _block("OPENSSH PRIVATE KEY", "openssh"),
        "ec": _block("EC PRIVATE KEY", "ec", 2),
        "pgp": _block("PGP PRIVATE KEY BLOCK", "pgp", 9),
        "password": _shown("DB_PASSWORD={}", _made("pw", 14)),
        "password-odd": _shown('"password": "{}",', "p,w;(R4n)d&0m|x"),
        "password-flag": _shown("$ mysql -h db -u app -p'{}' shop", "Xk,9&vT(2)m!"),
        "sshpass": _shown("sshpass -p {} ssh host", "Hr7!kd93Qe"),
        "curl-user": _shown("curl -s -u deploy:{} https://ci", _made("curl", 16)),
        "netrc": _shown("machine git.example login deploy password {}", _made("netrc", 16)),
        "pgpass": _shown("db.example:5432:shop:app:{}", _made("pgpass", 16)),
        "url-password": _shown("postgres://app:{}@db:5432/shop", _made("url", 16)),
        "redis-url": _shown("redis://:{}@cache:6379/0", _made("redis", 20)),
        "url-token": _shown("https://{}@git.example/repo.git", _made("urltoken", 30)),
        "basic": _shown("Authorization: Basic {}", basic),
        "bearer": _shown("authorization: bearer {}", _made("bearer", 40)),
        "cookie": _shown("Cookie: theme=dark; session={}; a=1", _made("cookie", 32)),
        "set-cookie": _shown("Set-Cookie: sid={}; HttpOnly", _made("setcookie", 32)),
        "azure": _shown("AccountName=x;AccountKey={};Endpoint=y", _made("azure", 86) + "=="),
        "signed-url": _shown("https://s3/x?X-Amz-Signature={}&y=1", _made("sig", 64, hexes)),
        "docker-auth": _shown('{{"auths": {{"r": {{"auth": "{}"}}}}}}', basic[:32] + "Zz9Q"),
        "shadow": _shown("root:{}:19000:0", f"$6$saltsalt${_made('shadow', 80)}"),
        "said": _shown("The admin password is {} for now.", _made("said", 14)),
    }


KINDS = _kinds()
