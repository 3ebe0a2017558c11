/**
 * Declared consequences of operations, which make an assistant ask the merchant first. Runs each write on the demo:
 * if it sends messages or deletes rows, it must declare that.
 */
import { beforeAll, expect, test } from 'vitest'
import { listConsequences } from '#operations/discovery/mcp/consequences'
import type { LoadedOperation } from '#runtime/registry/loaded'
import { wholeRegistry } from '#test/support/app'
import { buildBody, buildPath, getRunOrder, openDemo, pickBodyNames } from './demo.ts'

const { operations } = await wholeRegistry()
const writes = operations
  .filter(({ spec }) => !spec.readOnly && spec.method !== 'GET')
  .sort((a, b) => getRunOrder(a) - getRunOrder(b))

type Effect = 'messages' | 'deletion'
const effects = new Map<string, Set<Effect>>()
let accepted = 0

/** Prepares a row that the demo lacks, by the path of the write. */
const states: readonly [RegExp, string][] = [
  [/requests\/:id\/(?:confirm|address)$/, `update exchange_requests set status = 'approved' where id = $1`],
]

beforeAll(async () => {
  const { app, storeId, send, namesOf, readNow } = await openDemo()
  await app.drainJobs({ allowFailures: true })
  const submissions = await app.database.query<{ id: string }>(
    'select id from contact_form_submissions where store_id = $1 limit 1',
    [storeId],
  )
  const bodies: Readonly<Record<string, object>> = {
    '/contact-form/submissions/delete': { ids: submissions.map(({ id }) => id) },
    '/product-exchanges/requests/:id/confirm': { stage: 'received' },
  }
  const tables = await app.database.query<{ name: string }>(
    `select table_name as name from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where table_schema = 'public' and t.table_type = 'BASE TABLE' and column_name = 'store_id'
       and table_name not like 'sandbox\\_%' and table_name not in ('directory', 'idempotency_keys', 'exchange_tokens')`,
    [],
  )
  const countAll = async (): Promise<Record<string, number>> => {
    const rows = await app.database.query<{ name: string; n: string }>(
      tables
        .map(
          ({ name }) => `select '${name}' as name, count(*) as n from ${name} where store_id = '${storeId}'`,
        )
        .join(' union all '),
      [],
    )
    return Object.fromEntries(rows.map(({ name, n }) => [name, Number(n)]))
  }
  /** Number of messages, and mails to people who are not members. */
  const countMessages = async (): Promise<number> => {
    const [row] = await app.database.query<{ n: string }>(
      `select (select count(*) from sandbox_messages)
         + (select count(*) from sandbox_mail m where not exists (select from users u where lower(u.email) = lower(m.to_address))) as n`,
      [],
    )
    return Number(row!.n)
  }
  const run = async (operation: LoadedOperation): Promise<number> => {
    const { spec } = operation
    const names = await namesOf(operation)
    const state = states.find(([path]) => path.test(spec.path))
    if (state) await app.database.query(state[1], [names.id])
    const own = pickBodyNames(operation, names)
    const first = buildBody(operation, {}, own)
    const now = spec.etag ? await readNow(operation, names, first).catch(() => ({})) : {}
    const body = bodies[spec.path] ?? buildBody(operation, now ?? {}, own)
    return (await send(spec.method, buildPath(spec.path, names), body)).status
  }
  for (const operation of writes) {
    const [rows, messages] = [await countAll(), await countMessages()]
    const status = await run(operation)
    if (status >= 300) continue
    accepted += 1
    const found = new Set<Effect>()
    // Before the jobs run: their deletions are not the write's.
    const now = await countAll()
    if (tables.some(({ name }) => now[name]! < rows[name]!)) found.add('deletion')
    await app.drainJobs({ allowFailures: true })
    if ((await countMessages()) > messages) found.add('messages')
    effects.set(operation.id, found)
  }
})

test('most writes are accepted', () => expect(accepted).toBeGreaterThan(writes.length / 2))

test.each(['messages', 'deletion'] as const)('writes with the effect %s declare it', (kind) => {
  const silent = writes.filter(
    ({ id, spec }) => effects.get(id)?.has(kind) && !listConsequences(spec).includes(kind),
  )
  expect(
    silent.map(({ id }) => id).filter((id) => !(id in excused)),
    `say consequences: ['${kind}'] in the operation, so that assistants ask the merchant first`,
  ).toEqual([])
})

/** Deletes rows, but nothing of the merchant's. */
const excused: Readonly<Record<string, string>> = {}

test('irreversible writes declare a consequence', () => {
  const ending = writes.filter(({ spec }) =>
    /for good|ever asked|are deleted\b(?! after)/.test(`${spec.description} ${spec.details ?? ''}`),
  )
  expect(ending.length).toBeGreaterThan(2)
  expect(ending.filter(({ spec }) => listConsequences(spec).length === 0).map(({ id }) => id)).toEqual([])
})

test('consequences implied by scopes or DELETE are not declared again', () => {
  const again = writes.filter(({ spec }) =>
    spec.consequences?.some((kind) => listConsequences({ ...spec, consequences: [] }).includes(kind)),
  )
  expect(again.map(({ id }) => id)).toEqual([])
})
