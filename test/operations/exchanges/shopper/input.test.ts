/** Invalid input on the storefront of exchanges. */
import { describe, expect, test } from 'vitest'
import {
  type Asking,
  type ExchangeShop,
  exchangeShop,
  heic,
  png,
  someIp,
  upload,
} from '#test/operations/exchanges/shopper'
import { testApp } from '#test/support/app'
import { readRows } from '#test/support/rows'
import { visit } from '#test/support/storefront'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-11-20T12:00:00.000Z')

const refusalOf = async (shop: ExchangeShop, order: Parameters<ExchangeShop['ask']>[0], asking: Asking) => {
  const { status, body } = await shop.ask(order, asking)
  return [status, body.error?.message ?? null]
}

test('an invalid request is refused with a sentence that names the field', async () => {
  const shop = await exchangeShop(app, { maxPhotos: 1 })
  const order = await shop.delivered()
  const sessionToken = await shop.session(order)
  const refused = (asking: Asking) => refusalOf(shop, order, { sessionToken, ...asking })
  const faults: [Asking, number, string][] = [
    [{ items: [] }, 400, 'items: must name at least one'],
    [{ items: Array(51).fill({}) }, 400, 'items: '],
    [{ items: [{ quantity: 0 }] }, 400, 'items.0.quantity: '],
    [{ items: [{ quantity: 1.5 }] }, 400, 'items.0.quantity: '],
    [{ items: [{ quantity: '1' }] }, 400, 'items.0.quantity: '],
    [{ items: [{ reason: 'nonsense' }] }, 400, 'items.0.reason: must be one of the reasons for returns'],
    [{ items: [{ reason: 'other' }] }, 400, 'items.0.comment: the reason "Another reason" needs a comment'],
    [{ items: [{ reason: 'defective' }] }, 400, 'photoUrls: the reason "It is defective" needs a photo'],
    [{ items: [{ orderItemId: 'nothing' }] }, 400, 'items.0.orderItemId: is no item of this order'],
    [{ items: [{ comment: 'x'.repeat(2001) }] }, 400, 'items.0.comment: '],
    [
      { items: [{ exchangeForVariantId: '2002' }] },
      400,
      'items.0.exchangeForVariantId: is of exchanges only',
    ],
    [{ items: [{ surprise: true }] }, 400, 'surprise'],
    [{ comment: 'x'.repeat(2001) }, 400, 'comment: '],
    [{ acceptedConditions: false }, 400, 'acceptedConditions: must be true'],
    [{ acceptedConditions: undefined }, 400, 'acceptedConditions: '],
    [{ returnMethod: 'pickup' }, 400, 'returnMethod: is not offered by this store'],
    [{ returnMethod: 'by-drone' }, 400, 'returnMethod: '],
    [{ refundMethod: 'store-credit' }, 400, 'refundMethod: is not offered by this store'],
    [{ type: 'gift' as never }, 400, 'type: '],
    [{ photoUrls: ['https://example.com/a.png', 'https://example.com/b.png'] }, 400, 'photoUrls: '],
    [{ photoUrls: ['https://example.com/a.png'] }, 400, 'photoUrls.0: '],
    [{ surprise: 1 }, 400, 'surprise'],
    [{ sessionToken: 'made.up.token' }, 400, 'sessionToken: '],
    [{ items: [{ quantity: 3 }] }, 409, 'Caneca: only 2 of 2 can still be asked for'],
  ]
  for (const [asking, status, message] of faults) {
    expect(await refused(asking)).toEqual([status, expect.stringContaining(message)])
  }
  const rows = await readRows(shop, 'exchange_requests', ['id'])
  expect(rows).toEqual([])
})

describe('an exchange', () => {
  test('needs another available variant of the same product', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const sessionToken = await shop.session(order)
    const refused = (exchangeForVariantId: string | undefined, more: Asking = {}) =>
      refusalOf(shop, order, { sessionToken, type: 'exchange', items: [{ exchangeForVariantId }], ...more })
    const field = 'items.0.exchangeForVariantId'
    expect(await refused(undefined)).toEqual([400, `${field}: is required on an exchange`])
    expect(await refused('2001')).toEqual([400, `${field}: must be another variant`])
    expect(await refused('2003')).toEqual([400, `${field}: must be a variant of the same product`])
    expect(await refused('9999')).toEqual([400, `${field}: there is no such variant`])
    expect(await refused('2002', { refundMethod: 'original-payment' })).toEqual([
      400,
      'refundMethod: is of returns only',
    ])
    const soldOut = { stock: 0, is_available: false }
    const { root } = app.database
    const variant = root.updateTable('product_snapshot_variants').where('store_id', '=', shop.id)
    await variant.where('variant_id', '=', '2002').set(soldOut).execute()
    expect(await refused('2002')).toEqual([409, expect.stringContaining('is not available now')])
    await shop.settings({ exchangeScope: 'any-product' })
    expect(await refused('2003')).toEqual([201, null])
  })

  test('is accepted only if the store offers its type', async () => {
    const shop = await exchangeShop(app, { types: ['return'] })
    const order = await shop.delivered()
    expect(await refusalOf(shop, order, { type: 'exchange' })).toEqual([
      409,
      'This store does not take exchanges',
    ])
    expect(await refusalOf(shop, order, { type: 'return' })).toEqual([201, null])
  })

  test('is refused for an excluded product', async () => {
    const shop = await exchangeShop(app, { excludedProductIds: ['1001'] })
    const order = await shop.delivered()
    expect(await refusalOf(shop, order, {})).toEqual([
      409,
      'Caneca: This item is not part of exchanges and returns',
    ])
  })
})

describe('a session', () => {
  test('is valid for 30 minutes, for uploads too', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const sessionToken = await shop.session(order)
    const uploadStatus = async () =>
      (
        await visit(shop, '/exchanges/upload-url', {
          ip: someIp(),
          body: { sessionToken, fileName: 'a.png', contentType: 'image/png', size: 10 },
        })
      ).status
    await app.advance(30 * 60_000 - 1)
    expect(await uploadStatus()).toBe(200)
    expect((await shop.ask(order, { sessionToken })).status).toBe(201)
    await app.advance(1)
    expect(await uploadStatus()).toBe(400)
    expect((await shop.ask(order, { sessionToken })).status).toBe(400)
  })

  test('is valid for its own order only', async () => {
    const shop = await exchangeShop(app)
    const [one, other] = [await shop.delivered(), await shop.delivered()]
    const sessionToken = await shop.session(one)
    expect(await refusalOf(shop, other, { sessionToken })).toEqual([
      400,
      'items.0.orderItemId: is no item of this order',
    ])
    const [at, , signature] = sessionToken.split('.')
    const forged = [at, Buffer.from(other.id).toString('base64url'), signature].join('.')
    expect((await shop.ask(other, { sessionToken: forged })).status).toBe(400)
  })
})

describe('photos', () => {
  test('are private, of four types up to 10 MiB, and must be uploaded here', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const sessionToken = await shop.session(order)
    const asked = async (file: Record<string, unknown>) => {
      const body = { sessionToken, fileName: 'a.png', contentType: 'image/png', size: 10, ...file }
      return (await visit(shop, '/exchanges/upload-url', { body, ip: someIp() })).status
    }
    for (const type of ['jpeg', 'png', 'webp', 'heic']) {
      expect(await asked({ contentType: `image/${type}`, size: 10 * 1024 * 1024 })).toBe(200)
    }
    expect(await asked({ size: 10 * 1024 * 1024 + 1 })).toBe(400)
    expect(await asked({ contentType: 'image/svg+xml' })).toBe(400)
    expect(await asked({ contentType: 'text/html' })).toBe(400)
    expect(await asked({ sessionToken: 'nothing' })).toBe(400)
    const photoUrl = await upload(shop, sessionToken)
    expect((await app.fetch(new Request(photoUrl), { ip: '10.0.0.1' })).status).toBe(403)

    const never = await visit(shop, '/exchanges/upload-url', {
      ip: someIp(),
      body: { sessionToken, fileName: 'a.png', contentType: 'image/png', size: 10 },
    })
    const defective = (url: string) => ({
      sessionToken,
      items: [{ reason: 'defective' }],
      photoUrls: [url],
    })
    expect(await refusalOf(shop, order, defective(never.body.fileUrl))).toEqual([
      400,
      'photoUrls.0: was never uploaded: upload it first',
    ])
    expect((await shop.ask(order, defective(photoUrl))).status).toBe(201)
    const [photo] = await app.database.root
      .selectFrom('exchange_photos')
      .selectAll()
      .where('store_id', '=', shop.id)
      .execute()
    expect(photo).toMatchObject({ url: photoUrl, content_type: 'image/png', size: png.length, position: 1 })
  })
})

describe('the page for a person', () => {
  const html = { accept: 'text/html' }
  const send = (shop: ExchangeShop, path: string, body: URLSearchParams | FormData) =>
    app.fetch(
      new Request(`http://localhost/storefront/${shop.publicId}/exchanges${path}`, {
        method: 'POST',
        headers: html,
        body,
      }),
      { ip: someIp() },
    )

  test('detects a photo’s type from its bytes and escapes the entered text', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const comment = '<img src=x onerror=alert(1)>'
    const fields = {
      sessionToken: await shop.session(order),
      type: 'return',
      'items.0.orderItemId': order.items[0]!.id,
      'items.0.quantity': '1',
      'items.0.reason': 'defective',
      'items.0.comment': comment,
      returnMethod: 'customer-ships',
      refundMethod: 'original-payment',
      acceptedConditions: 'true',
    }
    const sendWith = (...parts: (string | Uint8Array<ArrayBuffer>)[]) => {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      form.append('photos', new Blob(parts, { type: 'image/png' }), 'foto.png')
      return send(shop, '/requests', form)
    }
    const none = await sendWith()
    expect([none.status, await none.text()]).toEqual([400, expect.stringContaining('needs a photo')])
    const fake = await sendWith('<svg>')
    expect([fake.status, await fake.text()]).toEqual([
      400,
      expect.stringContaining('JPEG, PNG, WebP or HEIC'),
    ])
    expect((await sendWith(new Uint8Array(heic))).status).toBe(303)
    const [photo] = await readRows(shop, 'exchange_photos', ['content_type', 'size'])
    expect(photo).toEqual({ content_type: 'image/heic', size: heic.length })
    expect(await readRows(shop, 'exchange_items', ['comment'])).toEqual([{ comment }])
  })

  test('shows the refusal in words', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const wrong = await send(
      shop,
      '/lookup',
      new URLSearchParams({ orderNumber: order.number, contact: 'eva@example.com' }),
    )
    expect([wrong.status, wrong.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(await wrong.text()).toContain('No order has this number with this email or phone.')
    const nothing = await send(shop, '/requests', new URLSearchParams({ sessionToken: 'x' }))
    expect([nothing.status, await nothing.text()]).toEqual([
      400,
      expect.stringContaining('Your lookup: is not valid any more: look your order up again.'),
    ])
    const none = await send(
      shop,
      '/requests',
      new URLSearchParams({ sessionToken: await shop.session(order), type: 'return' }),
    )
    expect([none.status, await none.text()]).toEqual([400, expect.stringContaining('choose how many')])
  })

  test('stores nothing for a bot that fills in the honeypot', async () => {
    const shop = await exchangeShop(app)
    const order = await shop.delivered()
    const trapped = await visit(shop, '/exchanges/lookup', {
      ip: someIp(),
      body: { orderNumber: order.number, contact: 'ana@example.com', website: 'spam' },
    })
    expect(trapped.status).toBe(404)
    const { status, body } = await shop.ask(order, { website: 'spam' })
    expect([status, body.status]).toEqual([201, 'requested'])
    expect((await shop.follow(body.statusUrl)).status).toBe(404)
  })
})
