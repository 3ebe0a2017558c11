/** The form of settings where others write at the same time; what holds of each is tried in the registry's tests. */
import { describe, expect, test } from 'vitest'
import type { Context } from '#runtime/context'
import { type SettingsSpec, settings } from '#runtime/database/settings'
import { refuse } from '#runtime/errors'
import { z } from '#runtime/schema'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

const defaults = { number: 0, texts: { one: 'a', other: null as string | null } }
type Content = typeof defaults
const made = (more: Partial<SettingsSpec<Content, 'widget_settings'>> = {}) =>
  settings<Content, 'widget_settings'>({
    name: 'made-up',
    table: 'widget_settings',
    key: { key: 'made-up' },
    isDated: false,
    defaults,
    schema: z.object({}),
    ...more,
  })

describe('settings', () => {
  test('are the defaults where something new is not in the row yet', async () => {
    const ctx = await (await store(app)).context()
    const row = { key: 'made-up', content: JSON.stringify({ texts: { one: 'b' } }), updated_at: ctx.now() }
    await ctx.db.insertInto('widget_settings').values(row).execute()
    expect(await made().inForce(ctx)).toEqual({ number: 0, texts: { one: 'b', other: null } })
  })

  test('minus zero, and another order of keys, are the same again', async () => {
    const ctx = await (await store(app)).context()
    expect((await made().save(ctx, { number: -0, texts: { other: null, one: 'a' } })).updatedAt).toBeNull()
    expect((await made().save(ctx, { number: 1 })).updatedAt).not.toBeNull()
  })

  test('what somebody wrote past the lock between reading and writing is laid under the change', async () => {
    const ctx = await (await store(app)).context()
    await made().save(ctx, { texts: { one: 'b' } })
    const told: Content[] = []
    let times = 0
    const form = made({
      async check(tx) {
        times += 1
        if (times > 1) return
        const content = JSON.stringify({ ...defaults, texts: { one: 'b', other: 'past' } })
        await tx.db.updateTable('widget_settings').set({ content }).where('key', '=', 'made-up').execute()
      },
      saved: async (_tx, _after, before) => void told.push(before),
    })
    const whole = { number: 7, texts: { one: 'b', other: 'past' } }
    expect(await form.save(ctx, { number: 7 })).toMatchObject(whole)
    expect(await form.inForce(ctx)).toEqual(whole)
    expect(times).toBe(2)
    expect(told).toEqual([{ ...whole, number: 0 }])
  })

  test('what is asked of others is asked again where somebody saved meanwhile', async () => {
    const ctx = await (await store(app)).context()
    const asked: Content[] = []
    const form = made({
      async prepare(_ctx, after) {
        asked.push(after)
        if (asked.length === 1) await made().save(ctx, { texts: { other: 'meanwhile' } })
      },
    })
    const whole = { number: 7, texts: { one: 'a', other: 'meanwhile' } }
    // As of a request with If-Match: what it compares is compared in the transaction that holds.
    const guarded: Content[] = []
    const guard = async (tx: Context) => void guarded.push(await form.inForce(tx))
    expect(await form.save(ctx.guarded(guard), { number: 7 })).toMatchObject(whole)
    expect(asked).toEqual([{ ...defaults, number: 7 }, whole])
    expect(guarded).toEqual([
      { ...whole, number: 0 },
      { ...whole, number: 0 },
    ])
  })

  test('what refuses once they are kept takes them back; a save that changed nothing is told of', async () => {
    const ctx = await (await store(app)).context()
    const told: Content[] = []
    const form = made({
      saved: async () => {
        throw refuse('bad_request', 'number: is not wanted')
      },
      unchanged: async (_tx, content) => void told.push(content),
    })
    await expect(form.save(ctx, { number: 7 })).rejects.toThrow('not wanted')
    expect(await form.read(ctx)).toEqual({ ...defaults, updatedAt: null })
    await form.save(ctx, {})
    expect(told).toEqual([defaults])
  })

  test('what the server itself decides is checked and written in its transaction, and asks nobody', async () => {
    const ctx = await (await store(app)).context()
    const asks = async () => {
      throw new Error('was asked')
    }
    const check = (_ctx: unknown, { number }: Content) => {
      if (number > 9) throw refuse('bad_request', 'number: is too large')
    }
    const form = made({ prepare: asks, check })
    const write = (number: number) =>
      ctx.transaction((tx) => form.write(tx, (before) => ({ ...before, number })))
    await expect(write(10)).rejects.toThrow('too large')
    await write(9)
    expect(await form.inForce(ctx)).toEqual({ ...defaults, number: 9 })
  })
})
