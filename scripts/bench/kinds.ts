/** What is measured, on what, and the statements that the gateway runs for it. */
export const operationNames = [
  'read',
  'cold',
  'unchanged',
  'list',
  'search',
  'create',
  'once',
  'update',
  'forbidden',
  'unknown',
  'limited',
] as const
export type OperationName = (typeof operationNames)[number]
/** `node`: `node:http` and postgres.js alone, as far as it goes; `guarded`: Fastify with the gateway's guards. */
export const targetNames = ['gateway', 'node', 'hono', 'fastify', 'guarded'] as const
export type TargetName = (typeof targetNames)[number]

export interface Shop {
  storeId: string
  /** Of its own, which its requests come from. */
  address: string
  key: string
  /** May not write. */
  readingKey: string
  /** Each comes so seldom that nobody remembers it. */
  coldKeys: string[]
  listId: string
}

export interface Fixture {
  databaseUrl: string
  /** Where servers may write files. */
  folder: string
  /** Connections of each server, as many as the gateway's DATABASE_READS. */
  clients: number
  /** Their keys send in turn, each from an address of its own. */
  shops: Shop[]
  /** Stores that use up their limit, one for each measurement of it. */
  limited: Shop[]
  /** Requests a minute that a key may send. */
  limit: number
  statements: Partial<Record<OperationName, Statement>>
  /** Whether PostgreSQL counts statements. */
  countsStatements: boolean
}

/** What a request fills in: a value that is the same every time, or one of the request's own. */
export type Parameter = { value: unknown } | { slot: 'storeId' | 'id' | 'newId' | 'now' | 'phone' | 'note' }

export interface Statement {
  text: string
  parameters: Parameter[]
  /** As in `Database.query`. */
  planOnce: boolean
}

/** Any limit up to this, in requests a minute, is counted one by one, as the default limits are. */
export const countedOneByOne = 10_000
