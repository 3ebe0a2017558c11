/** The compared operations, and the servers. */
export const operationNames = ['read', 'list', 'create'] as const
export type OperationName = (typeof operationNames)[number]

/** `guarded` is Fastify with the gateway's guards. */
export const targetNames = ['gateway', 'node', 'hono', 'fastify', 'guarded'] as const
export type TargetName = (typeof targetNames)[number]

export interface Shop {
  storeId: string
  /** The IP address that its requests come from. */
  address: string
  key: string
  listId: string
}

/** Configuration of a server under test. */
export interface Fixture {
  databaseUrl: string
  /** A folder where servers may write files. */
  folder: string
  /** Database connections of each server. */
  clients: number
  /** Requests per minute of each store and each address. */
  limit: number
  /** Their keys send round-robin. */
  shops: Shop[]
}

export interface Operation {
  title: string
  status: number
  method: 'GET' | 'POST'
  path(shop: Shop): string
  /** A new body for every request. */
  body?(): string
}

let lastPhone = 10_000_000
/** A valid Brazilian mobile that no other request has. The fixture uses lower numbers. */
function unusedPhone(): string {
  lastPhone += 1
  return `+55119${lastPhone}`
}

const readPath = ({ listId }: Shop): string => `/v1/campaigns/lists/${listId}`
const optOuts = (): string => '/v1/campaigns/opt-outs'
const newOptOut = (): string => JSON.stringify({ phone: unusedPhone(), note: 'Asked at the counter' })

export const operations: Record<OperationName, Operation> = {
  read: { title: 'read by id', status: 200, method: 'GET', path: readPath },
  list: { title: 'list of 20', status: 200, method: 'GET', path: optOuts },
  create: { title: 'create', status: 201, method: 'POST', path: optOuts, body: newOptOut },
}
