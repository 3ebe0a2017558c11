/** The operations that are measured, and the request each server is sent for them. */
import { type OperationName, type Shop, type TargetName, targetNames } from './kinds.ts'
import { unusedPhone } from './phones.ts'

export interface Measured {
  title: string
  /** The status that every answer must have. */
  status: number
  method: 'GET' | 'POST' | 'PUT'
  path(shop: Shop): string
  /** Of the shop's turn number `turn`. */
  key(shop: Shop, turn: number): string
  /** A new body for every request. */
  body?(): string
  /** The header that names the ETag of the answer before. */
  tag?: 'if-match' | 'if-none-match'
  /** Each request has an Idempotency-Key of its own. */
  isOnce?: boolean
  /** What the servers answer differs by what they were sent. */
  isNew?: boolean
  /** Who does this at all; all, where nothing is said. */
  targets?: readonly TargetName[]
}

const optOuts = '/v1/campaigns/opt-outs'
const listOf = ({ listId }: Shop): string => `/v1/campaigns/lists/${listId}`
const keyOf = ({ key }: Shop): string => key
const newOptOut = (): string => JSON.stringify({ phone: unusedPhone(), note: 'Asked at the counter' })
let made = 0
function newNumber(): number {
  made += 1
  return made
}
const newName = (): string => JSON.stringify({ name: `Renamed ${newNumber()}` })
const guessedKey = (): string => `mk_live_${String(newNumber()).padStart(43, '0')}`

const read: Measured = { title: 'read by id', status: 200, method: 'GET', path: listOf, key: keyOf }
const create: Measured = {
  title: 'create',
  status: 201,
  method: 'POST',
  path: () => optOuts,
  key: keyOf,
  body: newOptOut,
  isNew: true,
}

export const operations: Record<OperationName, Measured> = {
  read,
  cold: {
    ...read,
    title: 'read, key not seen lately',
    key: ({ coldKeys }, turn) => coldKeys[turn % coldKeys.length]!,
  },
  unchanged: { ...read, title: 'read, unchanged', status: 304, tag: 'if-none-match' },
  list: { ...read, title: 'list of 20', path: () => `${optOuts}?limit=20` },
  search: { ...read, title: 'search', path: () => `${optOuts}?limit=20&search=90000001` },
  create,
  once: { ...create, title: 'create, idempotent', isOnce: true },
  update: {
    title: 'update, If-Match',
    status: 200,
    method: 'PUT',
    path: listOf,
    key: keyOf,
    body: newName,
    tag: 'if-match',
    isNew: true,
  },
  forbidden: { ...create, title: '403', status: 403, key: ({ readingKey }) => readingKey, isNew: false },
  unknown: { ...read, title: '401', status: 401, key: guessedKey },
  limited: { ...read, title: '429', status: 429, targets: ['gateway', 'fastify', 'guarded'] },
}

export const targetsOf = (name: OperationName): readonly TargetName[] =>
  operations[name].targets ?? targetNames
