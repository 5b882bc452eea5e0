-- Tokens of programs that use the HTTP API: what is kept is a hash, the token itself is shown once.
create table haulwright_api_tokens (
    prefix       text    not null primary key,      -- the beginning of the token, by which people name it
    digest       text    not null,                  -- SHA-256 of the whole token
    name         text    not null,
    role         text    not null,
    tenant       text,                              -- whose rows it may see; null where its role sees all
    created_at   bigint  not null,
    created_by   text    not null,
    expires_at   bigint,
    last_used_at bigint,                           -- to the minute
    revoked_at   bigint,
    revoked_by   text
);

-- Requests that carried an Idempotency-Key, each with its answer, written in the transaction of what it did.
create table haulwright_request_keys (
    tenant      text    not null,                   -- empty for who acts for all tenants
    key         text    not null,
    fingerprint text    not null,                   -- of what was asked: the same key with another request is refused
    status      bigint  not null,
    body        text    not null,                   -- JSON
    headers     text    not null,                   -- JSON
    created_at  bigint  not null,
    primary key (tenant, key)
);
create index haulwright_request_keys_created on haulwright_request_keys (created_at);
