/** Optimistic writes, with a precondition such as If-Match. */
import { expect, test } from 'vitest'
import { optimisticWrite } from '#operations/product-page/optimistic-write'
import type { Context } from '#runtime/context'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

test('the precondition is checked in the transaction that writes, however often others were first', async () => {
  const ctx = await (await store(app)).context()
  let value = 1
  const guarded: number[] = []
  const written = await optimisticWrite(
    ctx.withGuard(async () => void guarded.push(value)),
    {
      read: async () => value,
      async prepare(before) {
        if (before < 3) value += 1
        return before
      },
      write: async (tx: Context, before) => ({ before, isInside: tx.inTransaction }),
    },
  )
  expect(written).toEqual({ before: 3, isInside: true })
  expect(guarded).toEqual([2, 3, 3])
})
