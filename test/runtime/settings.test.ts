/** Settings with concurrent writers; properties of each settings form are tested in the registry's tests. */
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
const buildSettings = (more: Partial<SettingsSpec<Content, 'widget_settings'>> = {}) =>
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
  test('are the defaults for new fields that the row does not have yet', async () => {
    const ctx = await (await store(app)).context()
    const row = { key: 'made-up', content: JSON.stringify({ texts: { one: 'b' } }), updated_at: ctx.now() }
    await ctx.db.insertInto('widget_settings').values(row).execute()
    expect(await buildSettings().getEffective(ctx)).toEqual({ number: 0, texts: { one: 'b', other: null } })
  })

  test('minus zero, and another order of keys, change nothing', async () => {
    const ctx = await (await store(app)).context()
    expect(
      (await buildSettings().save(ctx, { number: -0, texts: { other: null, one: 'a' } })).updatedAt,
    ).toBeNull()
    expect((await buildSettings().save(ctx, { number: 1 })).updatedAt).not.toBeNull()
  })

  test('a concurrent write without the lock is merged under the change', async () => {
    const ctx = await (await store(app)).context()
    await buildSettings().save(ctx, { texts: { one: 'b' } })
    const saved: Content[] = []
    let times = 0
    const form = buildSettings({
      async check(tx) {
        times += 1
        if (times > 1) return
        const content = JSON.stringify({ ...defaults, texts: { one: 'b', other: 'past' } })
        await tx.db.updateTable('widget_settings').set({ content }).where('key', '=', 'made-up').execute()
      },
      onSaved: async (_tx, _after, before) => void saved.push(before),
    })
    const whole = { number: 7, texts: { one: 'b', other: 'past' } }
    expect(await form.save(ctx, { number: 7 })).toMatchObject(whole)
    expect(await form.getEffective(ctx)).toEqual(whole)
    expect(times).toBe(2)
    expect(saved).toEqual([{ ...whole, number: 0 }])
  })

  test('calls to others are repeated if another save came meanwhile', async () => {
    const ctx = await (await store(app)).context()
    const asked: Content[] = []
    const form = buildSettings({
      async prepare(_ctx, after) {
        asked.push(after)
        if (asked.length === 1) await buildSettings().save(ctx, { texts: { other: 'meanwhile' } })
      },
    })
    const whole = { number: 7, texts: { one: 'a', other: 'meanwhile' } }
    // As in a request with If-Match: its comparison runs in the committing transaction.
    const guarded: Content[] = []
    const guard = async (tx: Context) => void guarded.push(await form.getEffective(tx))
    expect(await form.save(ctx.withGuard(guard), { number: 7 })).toMatchObject(whole)
    expect(asked).toEqual([{ ...defaults, number: 7 }, whole])
    expect(guarded).toEqual([
      { ...whole, number: 0 },
      { ...whole, number: 0 },
    ])
  })

  test('an error in onSaved rolls back; a save without changes is reported', async () => {
    const ctx = await (await store(app)).context()
    const saved: Content[] = []
    const form = buildSettings({
      onSaved: async () => {
        throw refuse('bad_request', 'number: is not wanted')
      },
      onUnchanged: async (_tx, content) => void saved.push(content),
    })
    await expect(form.save(ctx, { number: 7 })).rejects.toThrow('not wanted')
    expect(await form.read(ctx)).toEqual({ ...defaults, updatedAt: null })
    await form.save(ctx, {})
    expect(saved).toEqual([defaults])
  })

  test('decisions of the server are validated and written in its transaction, without calls to others', async () => {
    const ctx = await (await store(app)).context()
    const asks = async () => {
      throw new Error('was asked')
    }
    const check = (_ctx: unknown, { number }: Content) => {
      if (number > 9) throw refuse('bad_request', 'number: is too large')
    }
    const form = buildSettings({ prepare: asks, check })
    const write = (number: number) =>
      ctx.transaction((tx) => form.write(tx, (before) => ({ ...before, number })))
    await expect(write(10)).rejects.toThrow('too large')
    await write(9)
    expect(await form.getEffective(ctx)).toEqual({ ...defaults, number: 9 })
  })
})
