/** The four operations that are measured, and the request each server is sent for them. */
import type { OperationName, Shop } from './kinds.ts'
import { unusedPhone } from './phones.ts'

export interface Measured {
  title: string
  /** The status that every answer must have. */
  status: number
  /** Least part of the bare peer's throughput that the gateway must reach. */
  ofBare: number
  method: 'GET' | 'POST'
  path(shop: Shop): string
  key(shop: Shop): string
  /** A new body for every request. */
  body?(): string
}

const optOuts = '/v1/campaigns/opt-outs'
const keyOf = ({ key }: Shop): string => key
const newOptOut = (): string => JSON.stringify({ phone: unusedPhone(), note: 'Asked at the counter' })

export const operations: Record<OperationName, Measured> = {
  read: {
    title: 'read by id',
    status: 200,
    ofBare: 0.85,
    method: 'GET',
    path: ({ listId }) => `/v1/campaigns/lists/${listId}`,
    key: keyOf,
  },
  list: {
    title: 'list of 20',
    status: 200,
    ofBare: 0.85,
    method: 'GET',
    path: () => `${optOuts}?limit=20`,
    key: keyOf,
  },
  create: {
    title: 'create',
    status: 201,
    ofBare: 0.85,
    method: 'POST',
    path: () => optOuts,
    key: keyOf,
    body: newOptOut,
  },
  forbidden: {
    title: '403',
    status: 403,
    ofBare: 0.55,
    method: 'POST',
    path: () => optOuts,
    key: ({ readingKey }) => readingKey,
    body: newOptOut,
  },
}
