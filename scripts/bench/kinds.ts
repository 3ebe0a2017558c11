/** What is measured, on what, and the statements that the gateway runs for it. */
export const operationNames = ['read', 'list', 'create', 'forbidden'] as const
export type OperationName = (typeof operationNames)[number]
export const targetNames = ['gateway', 'bare', 'fastify'] as const
export type TargetName = (typeof targetNames)[number]

export interface Shop {
  storeId: string
  key: string
  /** May not write. */
  readingKey: string
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
  statements: Partial<Record<OperationName, Statement>>
}

/** What a request fills in: a value that is the same every time, or one of the request's own. */
export type Parameter = { value: unknown } | { slot: 'storeId' | 'id' | 'newId' | 'now' | 'phone' | 'note' }

export interface Statement {
  text: string
  parameters: Parameter[]
  /** As in `Database.query`. */
  planOnce: boolean
}
