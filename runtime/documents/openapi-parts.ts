/** Parts of the OpenAPI document that all operations share: its introduction, headers, parameters and refusals. */
import { type ErrorCode, errorBody, errorCodes, toHttpStatus } from '#runtime/errors'
import { levelsAtMost, valuesAtMost } from '#runtime/gateway/json-bounds'
import type { Operation } from '#runtime/operation'
import type { JsonSchema } from './publish.ts'

/** Builds the document's `info`. `about`: the subject of the operations, in a sentence or two. */
export const buildInfo = (about: string | null) => ({
  title: 'Merchant API',
  version: '1.0.0',
  summary: 'Everything a merchant does in the dashboard, one operation at a time.',
  description: [
    about ?? '',
    '',
    '**Keys.** Send `Authorization: Bearer <key>`. An operation runs when the key has its scopes (`x-scopes`), the',
    'creator of the key has its role (`x-minimum-role`) and the plan of the store includes its feature (`x-feature`).',
    '`GET /operations` lists what your key may run now.',
    '',
    '**Reading and writing.** Unknown fields are refused. An omitted field keeps its value, `null` or an empty text clears',
    'it, and a list is replaced as a whole. Numbers beyond 2^53 are refused: send ids as text. A resource can be sent back',
    'as it was read: read-only fields are accepted and ignored.',
    'Instants are UTC with milliseconds, days are in the store’s time zone, and amounts are in units of their currency.',
    '',
    '**Safe writes.** A write that is repeated with the same `Idempotency-Key` has one effect and one answer. With',
    '`If-Match` a write is refused if the resource has changed since it was read.',
    '',
    '**Warnings.** A value that shoppers can hardly read is saved, and the header `Warning` of the answer says so: text',
    'needs a contrast of 4.5:1 with its background, icons and lines 3:1 (WCAG 2.2 AA). Each colour field names the',
    'colour it is compared with.',
    '',
    '**Background work.** After a 202 the work continues in the background; the `Location` of the answer is the read that',
    'shows how far it is. If that read lists notifications, the one of this work has its `jobId` in `data`. Exports are sent',
    'by email, and the `data.file` of their notification has a link to the file that is valid for seven days.',
    '',
    '**Errors.** Every error is `{ "error": { "code", "message" } }` with one of eight codes; the message names the field',
    'and the remedy. `RateLimit-*` headers tell how many requests are left; quote `X-Request-Id` to ask about a request.',
    '',
    '**Changes.** Answers of a deprecated operation have `Deprecation` (since when) and, once it is decided, `Sunset` (from',
    'when it may be gone) and `Link` (what replaces it).',
    '',
    '**Deadlines.** A request is answered within 30 seconds of its last byte, with 503 and `Retry-After` if the work takes',
    'longer. After a write that ended so, read the resource before you repeat it, or use an `Idempotency-Key`.',
  ].join('\n'),
  contact: { name: 'Merchant API maintainers' },
  license: { name: 'MIT', identifier: 'MIT' },
})

export const securitySchemes = {
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A key of one store, `mk_live_…` or `mk_test_…`, with the scopes it was made with.',
  },
}

const whole = { type: 'integer', minimum: 0 }
const headers = {
  'RateLimit-Limit': { description: 'Requests allowed in one minute.', schema: whole },
  'RateLimit-Remaining': { description: 'Requests left of this minute.', schema: whole },
  'RateLimit-Reset': { description: 'Seconds until all of them are allowed again.', schema: whole },
  'RateLimit-Policy': {
    description: 'The limit: its name (`store` or `ip`), `q` requests in `w` seconds.',
    schema: { type: 'string' },
    example: '"store";q=120;w=60',
  },
  RateLimit: {
    description: 'The state of this limit: `r` requests left, all of them again in `t` seconds.',
    schema: { type: 'string' },
    example: '"store";r=119;t=58',
  },
  'X-Request-Id': { description: 'Names this request in our log.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: whole },
  ETag: {
    description: 'Names this state of the answer, for If-Match and If-None-Match.',
    schema: { type: 'string' },
  },
  Location: {
    description: 'The read that shows how far the work is, with its path and query.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  'X-Total-Capped': {
    description: '`true` when there are more rows than were counted: `total` is then the least there are.',
    schema: { type: 'string', const: 'true' },
  },
  Warning: {
    description:
      'Only where what was saved should be looked at again: `299 - "<sentence>"`, several after commas. Each sentence ' +
      'begins with its field and says what to do, as `design.textColor: #9ca3af has a contrast of 2.53:1 on …`.',
    schema: { type: 'string' },
  },
  'Idempotency-Replayed': {
    description: '`true` when this is the stored answer of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  Deprecation: {
    description: 'Since when this operation is deprecated: `@` and a Unix time in seconds (RFC 9745).',
    schema: { type: 'string', pattern: '^@[0-9]+$' },
  },
  Sunset: {
    description: 'From when this operation may be gone (RFC 8594).',
    schema: { type: 'string' },
  },
  Link: {
    description: 'With `rel="deprecation"`: what replaces this operation.',
    schema: { type: 'string' },
  },
} satisfies Record<string, { description: string; schema: JsonSchema; example?: string }>
export type HeaderName = keyof typeof headers

export const parameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Any text of your own. Within 24 hours the same key with the same request answers the stored answer; with ' +
      'another request, or while the first is still running, it is refused with 409.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The ETag of the read that this write is based on. Refused with 409 when it no longer holds.',
    schema: { type: 'string' },
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The ETag of the answer you have. While it holds, the answer is 304 without a body.',
    schema: { type: 'string' },
  },
}
export type ParameterName = keyof typeof parameters

/** The headers of every response, including refusals and answers without a body. */
export const commonHeaders: readonly HeaderName[] = [
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
]

const refusals: Record<ErrorCode, [description: string, message: string]> = {
  bad_request: [
    `The path, the query or the body is not right; the message names up to five fields. A body is nested at most ${levelsAtMost} levels deep and holds at most ${valuesAtMost} values, or as many as its own lists may hold.`,
    'name: must have at most 120 characters',
  ],
  unauthorized: [
    'No key, or one that is unknown, expired or revoked.',
    'The API key is missing, invalid, expired or revoked: send Authorization: Bearer <key>',
  ],
  forbidden: [
    'The key, the role of its creator, the plan or the state of the subscription does not allow this.',
    'This key lacks the permission platform:write',
  ],
  not_found: ['There is no such thing in this store.', 'There is nothing with this id'],
  conflict: [
    'The state of things does not allow it now, or an Idempotency-Key or If-Match no longer holds.',
    'If-Match: the resource has changed since it was read: read it again',
  ],
  payload_too_large: ['The body is larger than 15 MiB.', 'The body is larger than 15 MiB'],
  rate_limited: [
    'Too many requests in this minute, from this address or for this store.',
    'More than 120 requests a minute from this store: wait 12 seconds',
  ],
  unavailable: [
    'Something on our side, or a system this depends on, does not answer.',
    'A system this depends on does not answer: try again later',
  ],
}

/** `not_found` → `E404`. The names are short, since every operation references all eight refusals. */
export const toRefusalName = (code: ErrorCode): string => `E${toHttpStatus(code)}`

/** Builds the eight refusals for `components.responses`. The `code` in each body is a constant. */
export function buildRefusalResponses(): Record<string, JsonSchema> {
  return Object.fromEntries(
    errorCodes.map((code) => {
      const [description, message] = refusals[code]
      const waits = code === 'rate_limited' || code === 'unavailable'
      return [
        toRefusalName(code),
        {
          description,
          headers: buildHeaderReferences(waits ? [...commonHeaders, 'Retry-After'] : commonHeaders),
          content: {
            'application/json': {
              schema: buildRefusalSchema(code),
              example: JSON.parse(errorBody(code, message)),
            },
          },
        },
      ]
    }),
  )
}

/**
 * References to all eight refusals by status, with the operation's own descriptions. Any operation may give any of
 * them.
 */
export function buildRefusalReferences({
  refuses = {},
}: Pick<Operation['spec'], 'refuses'>): Record<string, JsonSchema> {
  return Object.fromEntries(
    errorCodes.map((code) => {
      const $ref = `#/components/responses/${toRefusalName(code)}`
      return [toHttpStatus(code), refuses[code] ? { $ref, description: refuses[code] } : { $ref }]
    }),
  )
}

const buildRefusalSchema = (code: ErrorCode): JsonSchema => ({
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'string', const: code },
        message: { type: 'string', description: 'One sentence for the merchant' },
      },
      required: ['code', 'message'],
      additionalProperties: false,
    },
  },
  required: ['error'],
  additionalProperties: false,
})

export const buildHeaderReferences = (names: readonly HeaderName[]): Record<string, JsonSchema> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${shortNames[name]}` }]))

/** The names of the header components. They are short, since nearly every answer references four or more. */
const shortNames: Record<HeaderName, string> = {
  'RateLimit-Limit': 'Limit',
  'RateLimit-Remaining': 'Remaining',
  'RateLimit-Reset': 'Reset',
  'RateLimit-Policy': 'Policy',
  RateLimit: 'RateLimit',
  'X-Request-Id': 'RequestId',
  'Retry-After': 'RetryAfter',
  ETag: 'ETag',
  Location: 'Location',
  'X-Total-Capped': 'TotalCapped',
  Warning: 'Warning',
  'Idempotency-Replayed': 'Replayed',
  Deprecation: 'Deprecation',
  Sunset: 'Sunset',
  Link: 'Link',
}
/** Builds the components of those headers that some response references. */
export const buildHeaderComponents = (names: ReadonlySet<HeaderName>): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, header]) =>
      names.has(name as HeaderName) ? [[shortNames[name as HeaderName], header]] : [],
    ),
  )
