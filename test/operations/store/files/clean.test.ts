import { Readable } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { cleanFiles } from '#operations/store/files/clean'
import * as files from '#operations/store/files/files'
import filesClean from '#operations/store/files/jobs/files-clean'
import { setUses } from '#operations/store/files/uses'
import { SystemContext } from '#runtime/context'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

describe('files-clean', () => {
  const system = () => new SystemContext(app.services, app.services.log, 'test')
  const exists = async (id: string) =>
    (await app.database.root.selectFrom('files').select('id').where('id', '=', id).execute()).length === 1
  const file = { contentType: 'text/plain', visibility: 'private' as const }

  test('deletes expired files and files unused for a day, and keeps used ones', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const put = (fileName: string, expiresAt?: Date) =>
      files.put(ctx, 'test', {
        ...file,
        fileName,
        content: Buffer.from(fileName),
        ...(expiresAt ? { expiresAt } : {}),
      })
    const dated = await put('dated.txt', new Date(app.clock.ms() + 3_600_000))
    const later = await put('later.txt', new Date(app.clock.ms() + 48 * 3_600_000))
    const unused = await put('unused.txt')
    const used = await put('used.txt')
    await app.database.root
      .insertInto('file_uses')
      .values({ store_id: shop.id, file_id: used.id, owner: 'test', created_at: app.clock.now() })
      .execute()
    const { signal } = new AbortController()
    await app.advance(3_600_000)
    await cleanFiles(system(), signal)
    expect(await Promise.all([dated, later, unused, used].map(({ id }) => exists(id)))).toEqual([
      false,
      true,
      true,
      true,
    ])
    await app.advance(23 * 3_600_000)
    await cleanFiles(system(), signal)
    expect(await Promise.all([later, unused, used].map(({ id }) => exists(id)))).toEqual([true, false, true])
    expect(await app.services.adapters.storage.head(unused.key)).toBeNull()
    expect(await app.services.adapters.storage.head(used.key)).toEqual({ contentType: 'text/plain', size: 8 })
    expect(filesClean.spec.everySeconds).toBe(3600)
  })

  test('a use is released whatever the case of its owner’s id', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const { url } = await files.put(ctx, 'test', { ...file, fileName: 'a.txt', content: Buffer.from('a') })
    const owner = `look:${ctx.newId()}`
    const uses = async () =>
      (await ctx.db.selectFrom('file_uses').select('owner').execute()).map((use) => use.owner)
    await ctx.transaction((tx) => setUses(tx, owner.toUpperCase(), [{ url, purpose: null, field: 'url' }]))
    expect(await uses()).toEqual([owner])
    await ctx.transaction((tx) => setUses(tx, owner.toUpperCase(), []))
    expect(await uses()).toEqual([])
  })

  test('finishes a run that crashed between storage and row', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const made = await files.put(ctx, 'test', {
      ...file,
      fileName: 'a.txt',
      content: Readable.from([Buffer.from('a')]),
    })
    await app.advance(25 * 3_600_000)
    const { signal } = new AbortController()
    vi.spyOn(app.services.adapters.storage, 'delete').mockRejectedValueOnce(new Error('killed'))
    await expect(cleanFiles(system(), signal)).rejects.toThrow('killed')
    vi.restoreAllMocks()
    expect(await exists(made.id)).toBe(true)
    await cleanFiles(system(), signal)
    expect(await exists(made.id)).toBe(false)
  })
})
