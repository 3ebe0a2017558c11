/** Imports with a concurrent import, a deleted list, or a dead worker. */
import { describe, expect, test } from 'vitest'
import { failImport, runImport } from '#operations/campaigns/imports/run'
import deleteList from '#operations/campaigns/lists/api/delete-list'
import { testApp } from '#test/support/app'
import { emptyList, importRows, makeRows, read, readNotices, readStaged } from '#test/support/imports'
import { store } from '#test/support/store'

const app = await testApp()

describe('one at a time', () => {
  test('a second import of a list waits for the first to end', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    const both = await Promise.all([
      importRows(shop, id, { rows: makeRows(2) }),
      importRows(shop, id, { rows: makeRows(3) }),
    ])
    expect(both.map((answer) => answer.status).sort()).toEqual([202, 409])
    await app.drainJobs()
    expect((await importRows(shop, id, { rows: makeRows(4) })).status).toBe(202)
    await app.drainJobs()
    expect(await read(shop, id)).toMatchObject({ size: 4, import: { status: 'completed', processed: 4 } })
    expect(await readStaged(shop)).toEqual([])
  })

  test('deleting a list stops its import', async () => {
    const shop = await store(app)
    const id = await emptyList(shop)
    await importRows(shop, id, { rows: makeRows(10) })
    expect((await shop.call(deleteList, { params: { id } })).status).toBe(204)
    await app.drainJobs()
    expect(await readStaged(shop)).toEqual([])
    expect(await readNotices(shop)).toEqual([])
  })
})

test('a worker that is stopping leaves the import to the next one', async () => {
  const shop = await store(app)
  const id = await emptyList(shop)
  const asked = await importRows(shop, id, { rows: makeRows(10) })
  const stopping = AbortSignal.abort(new Error('the worker is stopping'))
  await expect(runImport(await shop.context(), asked.body.jobId, stopping)).rejects.toThrow('stopping')
  await app.drainJobs()
  expect((await read(shop, id)).size).toBe(10)
})

test('a failed import reports how many it had added, and the list accepts the next one', async () => {
  const shop = await store(app)
  const id = await emptyList(shop)
  const asked = await importRows(shop, id, { rows: makeRows(2) })
  await failImport(await shop.context(), asked.body.jobId)
  expect(await read(shop, id)).toMatchObject({
    import: { status: 'failed', failureReason: 'Something went wrong on our side' },
  })
  expect(await readNotices(shop)).toMatchObject([
    {
      type: 'list-import-failed',
      level: 'error',
      message: 'Something went wrong on our side. 0 contacts were added before and stay in the list.',
    },
  ])
  await app.drainJobs()
  expect((await importRows(shop, id, { rows: makeRows(2) })).status).toBe(202)
  await app.drainJobs()
  expect(await read(shop, id)).toMatchObject({ size: 2, import: { added: 2 } })
})
