/**
 * What the bare peers do: the gateway's own statement for each operation and nothing around it. What remains of a
 * difference is the price of the gateway's checks.
 */
import { hash } from 'node:crypto'
import { newId } from '#runtime/values/ids'
import type { Fixture } from '../kinds.ts'
import { filler } from '../statements.ts'
import { type Clients, openClients } from './clients.ts'

export interface Told {
  status: number
  text: string
  etag?: string
}

export interface Work {
  /** The store of a key; undefined: there is none. Looked up and no more, as somebody before would say. */
  storeOf(authorization: string | undefined): string | undefined
  mayWrite(authorization: string | undefined): boolean
  read(storeId: string, id: string, ifNoneMatch: string | undefined): Promise<Told>
  list(storeId: string, search: string | null): Promise<Told>
  create(storeId: string, body: string): Promise<Told>
  rename(storeId: string, id: string, body: string): Promise<Told>
  close(): Promise<void>
}

export const unknown: Told = { status: 401, text: refusal('unauthorized', 'The API key is unknown') }
export const forbidden: Told = {
  status: 403,
  text: refusal('forbidden', 'This key lacks the permission platform:write'),
}

function refusal(code: string, message: string): string {
  return JSON.stringify({ error: { code, message } })
}

const renameText = 'update contact_lists set name = $3, updated_at = $4 where store_id = $1 and id = $2'

export function openWork(fixture: Fixture): Work {
  const { statements, shops } = fixture
  const stores = new Map<string, string>(
    shops.flatMap(({ key, readingKey, coldKeys, storeId }) =>
      [key, readingKey, ...coldKeys].map((each) => [`Bearer ${each}`, storeId] as const),
    ),
  )
  const readers = new Set<string>(shops.map(({ readingKey }) => `Bearer ${readingKey}`))
  const clients: Clients = openClients(fixture.databaseUrl, fixture.clients)
  const fill = Object.fromEntries(
    Object.entries(statements).map(([name, statement]) => [name, filler(statement)]),
  )
  const text = async (name: keyof typeof statements, slots: Parameters<ReturnType<typeof filler>>[0]) => {
    const { text: statement, planOnce } = statements[name]!
    const [row] = await clients.query<{ text: string }>(statement, fill[name]!(slots), planOnce)
    return row!.text
  }
  return {
    storeOf: (authorization) => stores.get(authorization ?? ''),
    mayWrite: (authorization) => !readers.has(authorization ?? ''),
    async read(storeId, id, ifNoneMatch) {
      const found = await text('read', { storeId, id })
      const etag = `"${hash('sha1', found, 'base64url')}"`
      return etag === ifNoneMatch ? { status: 304, text: '', etag } : { status: 200, text: found, etag }
    },
    async list(storeId, search) {
      return { status: 200, text: await text(search === null ? 'list' : 'search', { storeId }) }
    },
    async create(storeId, body) {
      const { phone, note } = JSON.parse(body) as { phone: string; note: string }
      const now = new Date()
      const slots = { storeId, newId: newId(now.getTime()), now, phone, note }
      return { status: 201, text: await text('create', slots) }
    },
    async rename(storeId, id, body) {
      const { name } = JSON.parse(body) as { name: string }
      await clients.query(renameText, [storeId, id, name, new Date()])
      return { status: 200, text: await text('read', { storeId, id }) }
    },
    close: () => clients.close(),
  }
}
