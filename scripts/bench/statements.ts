/**
 * The statements that the gateway runs, recorded from the gateway itself: the peers then do the same work of the
 * database, and an operation that needs more than one round trip is noticed before anything is measured.
 */
import { Kysely } from 'kysely'
import type { Database } from '#db/database'
import { openPostgres } from '#db/open'
import { PipelinedDialect } from '#db/postgres/driver'
import { postgresPool } from '#db/postgres/pool'
import type { Tables } from '#db/tables'
import { openApp } from '#runtime/server/app'
import { silentLog } from '#runtime/server/log'
import { readSettings } from '#runtime/server/settings'
import type { Fixture, OperationName, Parameter, Shop, Statement } from './kinds.ts'
import { operations } from './operations.ts'

interface Ran {
  text: string
  parameters: readonly unknown[]
  planOnce: boolean
}

/** Counting requests is the gateway's own business and happens beside the request. */
const besideTheRequest = /\brate_counters\b|\bapi_keys\b/

/** One statement for each operation that reaches the database. Throws where a request runs any other number. */
export async function recordStatements(fixture: Fixture): Promise<Partial<Record<OperationName, Statement>>> {
  const ran: Ran[] = []
  const database = recording(fixture.databaseUrl, ran)
  const shop = fixture.shops[0]!
  const app = await openApp({
    settings: { ...(await readSettings(gatewaySettings(fixture))), worker: false },
    log: silentLog(),
    database,
    supervise: false,
    shared: true,
  })
  try {
    const statements: Partial<Record<OperationName, Statement>> = {}
    for (const name of ofOneStatement) {
      const { method, key, body, status, ...asked } = operations[name]
      const path = asked.path(shop)
      const ask = async (text = body?.()): Promise<string> => {
        const response = await app.fetch(
          new Request(`http://localhost${path}`, {
            method,
            headers: {
              authorization: `Bearer ${key(shop, 0)}`,
              'content-type': 'application/json',
            },
            ...(text === undefined ? {} : { body: text }),
          }),
          { ip: '127.0.0.1' },
        )
        if (response.status !== status) {
          throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`)
        }
        return text ?? ''
      }
      await ask() // from now on the key is known
      ran.length = 0
      const sent = await ask()
      const own = ran.filter(({ text }) => !besideTheRequest.test(text))
      const expected = name === 'forbidden' ? 0 : 1
      if (own.length !== expected) {
        throw new Error(`${method} ${path} ran ${own.length} statements instead of ${expected}`)
      }
      if (own[0]) statements[name] = statementOf(own[0], shop, sent)
    }
    return statements
  } finally {
    await app.close()
    await database.close()
  }
}

/** What a peer does in the same statement, whichever is measured; the others' guards are each one's own. */
const ofOneStatement: readonly OperationName[] = ['read', 'list', 'search', 'create', 'forbidden']

/** As many share the load so that each stays under a limit that is counted one by one. */
const storesOfOneByOne = 100

/**
 * The environment of the gateway under test, logs as in production. Where there are many stores limits are counted one
 * by one, as the default limits are, and refuse none of them; else they are counted ahead.
 */
export const gatewaySettings = (
  fixture: Pick<Fixture, 'databaseUrl' | 'folder' | 'clients'> & Partial<Pick<Fixture, 'shops' | 'limit'>>,
) => ({
  DATABASE_URL: fixture.databaseUrl,
  DATA_DIR: fixture.folder,
  DATABASE_READS: String(fixture.clients),
  NODE_ENV: 'production',
  SECRET_KEY: 'a secret key that only the benchmark uses',
  ...limitsOf((fixture.shops?.length ?? 1) >= storesOfOneByOne ? String(fixture.limit) : '999999999'),
  TRUST_PROXY: '1',
  STOREFRONT_READS_IP: '999999999',
  LOG_LEVEL: 'info',
  WORKER: 'off',
  PORT: '0',
})

const limitsOf = (limit: string) => ({ RATE_LIMIT_STORE: limit, RATE_LIMIT_IP: limit })

function recording(url: string, ran: Ran[]): Database {
  const pool = postgresPool(url, { reads: 1, exclusive: 4 })
  const plain = openPostgres(url, { reads: 1, transactions: 2 })
  const root = new Kysely<Tables>({
    dialect: new PipelinedDialect(pool, 'request'),
    log: ({ query }) => {
      ran.push({ text: query.sql, parameters: query.parameters, planOnce: false })
    },
  })
  return {
    ...plain,
    root,
    query: (text, parameters, plan) => {
      ran.push({ text, parameters, planOnce: plan === 'once' })
      return plain.query(text, parameters, plan)
    },
    async close() {
      await root.destroy()
      await pool.close()
      await plain.close()
    },
  }
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7/

function statementOf(ran: Ran, shop: Shop, sent: string): Statement {
  const body: { phone?: string; note?: string } = sent === '' ? {} : JSON.parse(sent)
  const parameters = ran.parameters.map((value): Parameter => {
    if (value instanceof Date) return { slot: 'now' }
    if (value === shop.storeId) return { slot: 'storeId' }
    if (value === shop.listId) return { slot: 'id' }
    if (value !== undefined && value === body.phone) return { slot: 'phone' }
    if (value !== undefined && value === body.note) return { slot: 'note' }
    if (typeof value === 'string' && uuid.test(value)) return { slot: 'newId' }
    return { value }
  })
  return { text: ran.text, parameters, planOnce: ran.planOnce }
}

/** What a request puts in the place of the slots. */
export interface Slots {
  storeId: string
  id?: string | undefined
  newId?: string
  now?: Date
  phone?: string
  note?: string | undefined
}

/** Makes the parameters of a request: only the slots are filled anew. */
export function filler(statement: Statement | undefined): (slots: Slots) => unknown[] {
  if (!statement) throw new Error('The gateway ran no statement for this operation')
  const fixed = statement.parameters.map((each) => ('value' in each ? each.value : null))
  const slots = statement.parameters.flatMap((each, at) => ('slot' in each ? [[at, each.slot] as const] : []))
  return (given) => {
    const values = fixed.slice()
    for (const [at, slot] of slots) values[at] = given[slot]
    return values
  }
}
