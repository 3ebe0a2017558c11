/** Statements over all stores that see only some of them, as while a node of a cluster is down. */
import { OperationNodeTransformer, type RawNode, sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { findStoresOnHealthyNodes, scopeToStores } from '#db/citus/healthy-nodes'
import { findTableName, ScopePlugin } from '#db/scoping'
import { tenantColumn } from '#db/tables'
import { SystemContext } from '#runtime/context'
import { runOnAllNodes } from '#runtime/jobs/all-nodes'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const [one, other] = [await store(app), await store(app)]
const { database } = app.services
const scoped = scopeToStores(database.root, [one.id])

test('nothing is left out while all nodes answer', async () => {
  expect(await findStoresOnHealthyNodes(database)).toBeNull()
})

test('reads, joins, subqueries and writes see only the given stores; tables without a store are unlimited', async () => {
  const root = scoped
  const ids = (rows: { id: string }[]): string[] => rows.map(({ id }) => id)
  expect(ids(await root.selectFrom('stores').select('id').execute())).toEqual([one.id])
  expect(ids(await root.selectFrom('stores as s').select('s.id').execute())).toEqual([one.id])
  const joined = root
    .selectFrom('api_keys as k')
    .innerJoin('stores as s', 's.id', 'k.store_id')
    .select('k.store_id as id')
  expect(new Set(ids(await joined.execute()))).toEqual(new Set([one.id]))
  const keyed = root
    .selectFrom('users as u')
    .select('u.id')
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('api_keys as k').select('k.id').whereRef('k.user_id', '=', 'u.id')),
    )
  expect(ids(await keyed.execute())).toHaveLength(1)
  const expression = sql<{
    id: string
  }>`with found as materialized (${root.selectFrom('stores').select('id')})
    select id from found`
  expect(ids((await expression.execute(root)).rows)).toEqual([one.id])

  const changed = await root.updateTable('stores').set({ name: 'Seen' }).returning('id').execute()
  expect(ids(changed)).toEqual([one.id])
  const gone = await root.deleteFrom('api_keys').where('store_id', '=', other.id).executeTakeFirst()
  expect(Number(gone.numDeletedRows)).toBe(0)
  expect(
    await root
      .selectFrom('kysely_migration' as 'users')
      .select(sql`1`.as('one'))
      .execute(),
  ).not.toEqual([])
  expect(ids(await database.root.selectFrom('stores').select('id').execute())).toHaveLength(2)
})

test('a transaction is limited as well', async () => {
  const seen = await scoped.transaction().execute((tx) => tx.selectFrom('stores').select('id').execute())
  expect(seen).toEqual([{ id: one.id }])
})

/** Runs once, and for each store separately: an event of an unseen store may matter. */
const perStoreJobs = ['provider-event-apply']

/** Cleanups by raw SQL over all stores wait for a missing node, and run again later. */
const waitingJobs = ['files-clean', 'notifications-prune', 'widget-events-prune']

test('scheduled jobs over all stores use the builder, so that they can be limited to some', async () => {
  class Naming extends OperationNodeTransformer {
    readonly named = new Set<string>()
    protected override transformRaw(node: RawNode): RawNode {
      const table = findTableName(node.sqlFragments.join(' ? '))
      if (table && tenantColumn(table) !== 'system') this.named.add(table)
      return super.transformRaw(node)
    }
  }
  const found: string[] = []
  const clocked = app.registry.jobs.filter(
    ({ store, spec }) => !store && spec.everySeconds && !spec.sandboxOnly,
  )
  const others = clocked.filter(({ name, spec }) => !spec.storeByStore && !waitingJobs.includes(name))
  expect(others.map(({ name }) => name)).toEqual(perStoreJobs)
  expect(clocked.length).toBeGreaterThan(20)
  for (const { name, spec } of clocked) {
    const naming = new Naming()
    const root = scoped.withPlugin(new ScopePlugin(naming))
    const system = new SystemContext(app.services, app.services.log, 'a-request', { root })
    const attempt = { jobId: one.id, number: 1, isLast: false, signal: new AbortController().signal }
    await spec.run(system as never, {} as never, attempt)
    if (naming.named.size > 0) found.push(name)
  }
  // One of them goes store by store.
  if (inject('nodes').length > 1) expect(waitingJobs).toEqual(expect.arrayContaining(found))
  else expect(found.sort()).toEqual(waitingJobs)
})

test('a job that fails while all nodes answer has failed, and is run once', async () => {
  let runs = 0
  const system = new SystemContext(app.services, app.services.log, 'a-request')
  const failing = runOnAllNodes(system, { storeByStore: true }, async () => {
    runs += 1
    throw new Error('for a reason of its own')
  })
  await expect(failing).rejects.toThrow('for a reason of its own')
  expect(runs).toBe(1)
})
