/** How the storefront's rate limits are counted. */
import { expect, test } from 'vitest'
import { testApp } from '#test/support/app'
import { store as newStore } from '#test/support/store'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 5 })

test('requests of one address count per store; requests for unknown stores count together', async () => {
  const [one, other] = [await newStore(app), await newStore(app)]
  const read = async (shop: { publicId: string; app: typeof app }, publicId = shop.publicId) =>
    (await visit(shop, '/widgets?page=home', { ip: '100.64.0.9', publicId })).status
  const often = async (publicIds: string[]) => {
    const statuses = []
    for (const publicId of publicIds) statuses.push(await read(one, publicId))
    return statuses
  }
  expect(await often(Array(6).fill(one.publicId))).toEqual([200, 200, 200, 200, 200, 429])
  expect(await read(other)).toBe(200)
  const nobody = [1, 2, 3, 4, 5, 6].map((n) => `nobody${n}nobody${n}xx`)
  expect(await often(nobody)).toEqual([404, 404, 404, 404, 404, 429])
  expect(await read(other)).toBe(200)
})
