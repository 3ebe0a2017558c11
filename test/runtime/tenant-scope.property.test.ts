/**
 * Tenant isolation with generated statements: a store sees exactly what it would see if it were alone, or the
 * statement is refused; and it writes only its own rows.
 */
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { scopeToStores } from '#db/citus/healthy-nodes'
import type { RootDatabase } from '#db/database'
import { TenantScope, TenantScopeError } from '#db/tenant-scope'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'
import { runs } from '#test/support/suite'

const app = await testApp()
const [mine, theirs] = [await store(app), await store(app)]
const now = app.clock.now()
const { root } = app.database

for (const [shop, phones] of [
  [mine, ['1', '2', '3']],
  [theirs, ['2', '3', '4', '5']],
] as const) {
  for (const phone of phones) {
    const [id, store_id] = [newId(now.getTime()), shop.id]
    const row = { id, store_id, phone, phone_key: phone, source: 'manual', created_at: now, updated_at: now }
    await root.insertInto('opt_outs').values(row).execute()
    if (phone === '3') continue
    await root
      .insertInto('contact_windows')
      .values({ store_id, phone_key: phone, last_inbound_at: now })
      .execute()
  }
}

const joins = [
  'innerJoin',
  'leftJoin',
  'rightJoin',
  'fullJoin',
  'innerJoinLateral',
  'leftJoinLateral',
] as const
const conditions = ['same', 'held', 'same and held', 'same or true'] as const
const wheres = ['exists', 'not exists', 'in', 'held or true'] as const
const unions = ['union', 'unionAll', 'except', 'intersect'] as const

interface From {
  table: 'opt_outs' | 'contact_windows' | Select
}
interface Select {
  with: boolean
  from: From
  joins: readonly { how: (typeof joins)[number]; from: From; on: (typeof conditions)[number] }[]
  where: { how: (typeof wheres)[number]; of: Select } | null
  counts: Select | null
  union: { how: (typeof unions)[number]; of: Select } | null
}

const { select } = fc.letrec<{ select: Select; from: From }>((tie) => {
  const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { depthSize: 'small', freq: 1 })
  return {
    from: fc.record({
      table: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom('opt_outs' as const, 'contact_windows' as const),
        tie('select'),
      ),
    }),
    select: fc.record({
      with: fc.boolean(),
      from: tie('from'),
      joins: fc.array(
        fc.record({ how: fc.constantFrom(...joins), from: tie('from'), on: fc.constantFrom(...conditions) }),
        { maxLength: 2, depthIdentifier: 'joins' },
      ),
      where: sometimes(fc.record({ how: fc.constantFrom(...wheres), of: tie('select') })),
      counts: sometimes(tie('select')),
      union: sometimes(fc.record({ how: fc.constantFrom(...unions), of: tie('select') })),
    }),
  }
})

// biome-ignore lint/suspicious/noExplicitAny: a statement is made up as it goes, of no type that anybody knows
type Any = any

/** A select of one column `k`. `depth`: each level has its own aliases. */
function buildSelect(db: Any, { from, ...given }: Select, depth = 0): Any {
  const alias = (n: number): string => `t${depth}_${n}`
  const item = ({ table }: From, n: number): Any =>
    typeof table === 'string' ? `${table} as ${alias(n)}` : buildSelect(db, table, depth + 1).as(alias(n))
  const column = ({ table }: From, n: number): string =>
    `${alias(n)}.${typeof table === 'string' ? 'phone_key' : 'k'}`
  const first = column(from, 0)
  const name = `w${depth}`
  let query = given.with
    ? db
        .with(name, (inner: Any) => buildSelect(inner, { ...given, from, with: false }, depth + 1))
        .selectFrom(`${name} as ${alias(0)}`)
        .select(`${alias(0)}.k`)
    : db.selectFrom(item(from, 0))
  if (given.with) return query
  for (const [at, join] of given.joins.entries()) {
    const n = at + 1
    const isTable = typeof join.from.table === 'string'
    const joined =
      join.how.endsWith('Lateral') && isTable
        ? buildSelect(db, plain(join.from), depth + 1).as(alias(n))
        : item(join.from, n)
    const key = join.how.endsWith('Lateral') ? `${alias(n)}.k` : column(join.from, n)
    const isHeld = isTable && !join.how.endsWith('Lateral')
    query = query[join.how](joined, (on: Any) => {
      if (join.on === 'same or true')
        return on.on((eb: Any) => eb.or([eb(key, '=', eb.ref(first)), eb.lit(true)]))
      const same = join.on === 'held' && isHeld ? on : on.onRef(key, '=', first)
      return join.on.includes('held') && isHeld ? same.on(`${alias(n)}.store_id`, '=', mine.id) : same
    })
  }
  const { where, counts, union } = given
  if (where?.how === 'in')
    query = query.where(first, 'in', (eb: Any) => buildSelect(eb, asNested(where.of), depth + 1))
  else if (where?.how === 'held or true') {
    if (typeof from.table === 'string')
      query = query.where((eb: Any) => eb.or([eb(`${alias(0)}.store_id`, '=', mine.id), eb.lit(true)]))
  } else if (where) {
    query = query.where((eb: Any) => {
      const some = eb.exists(buildSelect(eb, asNested(where.of), depth + 1).where(first, '=', '2'))
      return where.how === 'exists' ? some : eb.not(some)
    })
  }
  const last = given.joins.length
  const shown =
    last === 0 || given.joins[last - 1]!.how.endsWith('Lateral')
      ? first
      : column(given.joins[last - 1]!.from, last)
  query = query.select((eb: Any) => {
    if (!counts) return eb.ref(shown).as('k')
    const counted = eb
      .selectFrom(buildSelect(eb, asNested(counts), depth + 1).as('c'))
      .select((inner: Any) => inner.cast(inner.fn.countAll(), 'text').as('n'))
    return sql`concat(${eb.ref(shown)}, ' ', ${counted})`.as('k')
  })
  return union ? query[union.how](buildSelect(db, asNested(union.of), depth + 1)) : query
}
/** Without parts that a nested statement cannot have. */
const asNested = (given: Select): Select => ({ ...given, with: false, union: null })
const plain = (from: From): Select => ({
  with: false,
  from,
  joins: [],
  where: null,
  counts: null,
  union: null,
})

const sortRows = (rows: object[]): string[] => rows.map((row) => JSON.stringify(row)).sort()

/** Runs the work and rolls it back. */
async function rollBack<T>(work: (db: RootDatabase) => Promise<T>): Promise<T> {
  const end = new Error('undone')
  let answer: T
  const run = root.transaction().execute(async (tx) => {
    answer = await work(tx)
    throw end
  })
  await run.catch((error) => {
    if (error !== end) throw error
  })
  return answer!
}

/** The same without any other store. */
const withoutOthers = <T>(work: (db: RootDatabase) => Promise<T>): Promise<T> =>
  rollBack(async (tx) => {
    await tx.deleteFrom('opt_outs').where('store_id', '=', theirs.id).execute()
    await tx.deleteFrom('contact_windows').where('store_id', '=', theirs.id).execute()
    return work(tx)
  })

/** The isolation plugins, applied to any database. */
const scopes: Readonly<Record<string, (db: RootDatabase) => Any>> = {
  'the wall': (db) => db.withPlugin(new TenantScope(mine.id)),
  'living stores': (db) => scopeToStores(db, [mine.id]),
}

/** Null if isolation refuses it. */
async function findRows(work: () => Promise<object[]>): Promise<string[] | null> {
  try {
    return sortRows(await work())
  } catch (error) {
    if (error instanceof TenantScopeError) return null
    throw error
  }
}

const often = runs(300, 100)

/** With each plugin, `load` returns what it returns without any other store. */
async function expectAlone<T>(
  given: fc.Arbitrary<T>,
  within: (db: RootDatabase) => Any,
  ask: (db: Any, given: T) => Promise<object[]>,
): Promise<void> {
  let answered = 0
  await fc.assert(
    fc.asyncProperty(given, async (one) => {
      const expected = await withoutOthers((db) => ask(db, one)).catch(() => null)
      if (!expected) return // not a valid statement of PostgreSQL
      const seen = await findRows(() => rollBack((tx) => ask(within(tx), one)))
      if (!seen) return
      expect(seen).toEqual(sortRows(expected))
      answered += 1
    }),
    often,
  )
  expect(answered).toBeGreaterThan(often.numRuns / 6)
}

// Citus accepts few of these statements, and answers those equally.
const isCluster = inject('nodes').length > 1

describe.skipIf(isCluster).each(Object.entries(scopes))('behind %s', (_name, within) => {
  test('a read returns what it would without any other store', async () => {
    await expectAlone(select, within, (db, given) => buildSelect(db, given).execute())
  })

  test('a write changes what it would without any other store', async () => {
    await expectAlone(write, within, (db, { how, also, of }) => {
      const isUpdate = how === 'update'
      const begun = isUpdate
        ? db.updateTable('opt_outs as o').set('note', 'written')
        : db.deleteFrom('opt_outs as o')
      const beside = also ? begun[isUpdate ? 'from' : 'using'](`${also} as b`) : begun
      return beside
        .where((eb: Any) => eb('o.phone_key', 'in', buildSelect(eb, asNested(of), 1)))
        .returning('o.phone_key as k')
        .execute()
    })
  })
})

const write = fc.record({
  how: fc.constantFrom('update', 'delete'),
  also: fc.constantFrom('opt_outs', 'contact_windows', null),
  of: select,
})
