/** Imports that meet each other, a deleted list, or a dead worker. */
import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import importCsvIntoList from '#operations/campaigns/imports/api/import-csv-into-list'
import { failImport, runImport } from '#operations/campaigns/imports/run'
import deleteList from '#operations/campaigns/lists/api/delete-list'
import { Context } from '#runtime/context'
import { testApp } from '#test/support/app'
import { columns, emptyList, into, noticesOf, read, rowsOf, stagedOf } from '#test/support/imports'
import { store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()

describe('one at a time', () => {
  test('a second import of a list waits for the first to end', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    const both = await Promise.all([into(shop, id, { rows: rowsOf(2) }), into(shop, id, { rows: rowsOf(3) })])
    expect(both.map((answer) => answer.status).sort()).toEqual([202, 409])
    await app.drainJobs()
    expect((await into(shop, id, { rows: rowsOf(4) })).status).toBe(202)
    await app.drainJobs()
    expect(await read(shop, id)).toMatchObject({ size: 4, import: { status: 'completed', processed: 4 } })
    expect(await stagedOf(shop)).toEqual([])
  })

  test('a list that is deleted stops its import', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    await into(shop, id, { rows: rowsOf(10) })
    expect((await shop.call(deleteList, { params: { id } })).status).toBe(204)
    await app.drainJobs()
    expect(await stagedOf(shop)).toEqual([])
    expect(await noticesOf(shop)).toEqual([])
  })

  test('an import of a member who was removed before it began is dropped', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    const member = await shop.person('member')
    const asked = await shop.call(importCsvIntoList, {
      params: { id },
      key: member.key,
      body: { columns, rows: rowsOf(2) },
    })
    expect(asked.status).toBe(202)
    await app.database.root
      .updateTable('memberships')
      .set({ removed_at: app.clock.now() })
      .where('user_id', '=', member.userId)
      .execute()
    await app.drainJobs()
    expect(await read(shop, id)).toMatchObject({
      size: 0,
      import: { status: 'failed', failureReason: 'The member who asked for it was removed' },
    })
  })
})

describe('a worker that dies', () => {
  /** Dies inside the n-th transaction, after its writes and before its commit. */
  function dyingAt(n: number) {
    const transaction = Context.prototype.transaction
    let count = 0
    return vi.spyOn(Context.prototype, 'transaction').mockImplementation(function (this: Context, fn, level) {
      return transaction.call(
        this,
        async (within) => {
          const result = await fn(within)
          if (!this.inTransaction) {
            count += 1
            if (count === n) throw new Error('killed')
          }
          return result
        },
        level,
      ) as never
    })
  }

  test.runIf(isFullSuite)('loses nothing and counts nothing twice, wherever it dies', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    // Each phone twice, in different chunks, and a bad row in each hundred.
    const rows = [...rowsOf(2500), ...rowsOf(2500, (n) => `City ${n}`)]
    for (let at = 0; at < rows.length; at += 100) rows[at] = ['abc', 'Nobody', 'n@example.com', '']
    const asked = await into(shop, id, { rows })
    const ctx = await shop.context()
    const { signal } = new AbortController()
    for (const death of [1, 2, 4, 1]) {
      const spy = dyingAt(death)
      await expect(runImport(ctx, asked.body.jobId, signal)).rejects.toThrow('killed')
      spy.mockRestore()
      const list = await read(shop, id)
      const { processed, added, updated, unchanged, invalid, status } = list.import
      expect([status, processed % 1000]).toEqual(['running', 0])
      expect(added + updated + unchanged + invalid).toBe(processed)
      expect(list.size).toBe(added)
    }
    await app.drainJobs()
    const list = await read(shop, id)
    expect(list).toMatchObject({
      size: 2475,
      import: { status: 'completed', total: 5000, processed: 5000, added: 2475, updated: 2475, invalid: 50 },
    })
    const wrong = await app.database.root
      .selectFrom('list_contacts')
      .select('phone')
      .where('list_id', '=', id)
      .where(sql<boolean>`custom_fields->>'cidade' not like 'City %'`)
      .execute()
    expect(wrong).toEqual([])
    expect((await noticesOf(shop)).map((notice) => notice.type)).toEqual(['list-import-completed'])
  })

  test('two workers at once do each chunk once', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    const asked = await into(shop, id, { rows: rowsOf(3000) })
    const ctx = await shop.context()
    const { signal } = new AbortController()
    await Promise.all([runImport(ctx, asked.body.jobId, signal), runImport(ctx, asked.body.jobId, signal)])
    await app.drainJobs()
    expect(await read(shop, id)).toMatchObject({
      size: 3000,
      import: { status: 'completed', processed: 3000, added: 3000 },
    })
  })

  test('a worker that is stopping ends at a safe point', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    const asked = await into(shop, id, { rows: rowsOf(10) })
    const stopping = AbortSignal.abort(new Error('the worker is stopping'))
    await expect(runImport(await shop.context(), asked.body.jobId, stopping)).rejects.toThrow('stopping')
    await app.drainJobs()
    expect((await read(shop, id)).size).toBe(10)
  })

  test.runIf(isFullSuite)(
    'after the last try it is failed, with a reason, and what was added stays',
    async () => {
      const shop = await store(app)
      const id = await emptyList(shop)
      const asked = await into(shop, id, { rows: rowsOf(1500) })
      const spy = dyingAt(2)
      const ctx = await shop.context()
      await expect(runImport(ctx, asked.body.jobId, new AbortController().signal)).rejects.toThrow('killed')
      spy.mockRestore()
      await failImport(ctx, asked.body.jobId)
      await failImport(ctx, asked.body.jobId)
      expect(await read(shop, id)).toMatchObject({
        size: 1000,
        import: { status: 'failed', processed: 1000, failureReason: 'Something went wrong on our side' },
      })
      expect(await noticesOf(shop)).toMatchObject([
        {
          type: 'list-import-failed',
          level: 'error',
          message: 'Something went wrong on our side. 1000 contacts were added before and stay in the list.',
        },
      ])
      expect(await stagedOf(shop)).toEqual([])
      await app.drainJobs()
      expect((await into(shop, id, { rows: rowsOf(1500) })).status).toBe(202)
      await app.drainJobs()
      expect(await read(shop, id)).toMatchObject({ size: 1500, import: { added: 500, unchanged: 1000 } })
    },
  )
})
