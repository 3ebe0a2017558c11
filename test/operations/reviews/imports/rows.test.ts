/** Imports of CSV files (reviews, rule 10). */
import { createServer, get } from 'node:http'
import type https from 'node:https'
import type { AddressInfo } from 'node:net'
import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import conversationReviews from '#operations/inbox/conversations/api/list-reviews'
import importOperation from '#operations/reviews/imports/api/import-reviews'
import { runImport } from '#operations/reviews/imports/run'
import { importReviews } from '#operations/reviews/imports/start'
import createImageUpload from '#operations/reviews/reviews/api/create-image-upload'
import deleteReview from '#operations/reviews/reviews/api/delete-review'
import listReviews from '#operations/reviews/reviews/api/list-reviews'
import { fetchPicture } from '#operations/reviews/reviews/public-fetch'
import { FetchFailed, isPublicAddress } from '#runtime/http/public-fetch'
import { type ReviewShop, reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { readRows } from '#test/support/rows'

const app = await testApp()
await app.setClock('2026-05-01T12:00:00.000Z')

const send = (shop: ReviewShop, csv: string, status?: string) =>
  shop.call(importOperation, { body: { csv, ...(status ? { status } : {}) } })
const imported = async (shop: ReviewShop) =>
  (await shop.notices('review-import-completed')).map((each) => each.data)

const six = `\ufeffproduct_id;rating;reviewer_name;text;review_date;other
1001;5;Ana Souza;"Linda,
mesmo";2026-03-10;x
1001;6;Bia;Boa;;x
9999;4;Cia;Boa;;x
1002;4;Dia;Boa;2026-03-11 09:30;x
1001;5;ANA  souza;"linda, mesmo";2026-03-10;x
1002;1;Eva;;2026-03-12T10:00:00-05:00;x
`

describe('POST /product-reviews/import', () => {
  test('valid rows are imported, each invalid one is reported; importing the file again adds nothing', async () => {
    const shop = await reviewShop(app)
    const answer = await send(shop, six)
    expect([answer.status, answer.body.rows]).toEqual([202, 6])
    await app.drainJobs()
    const [data] = await imported(shop)
    expect(data).toMatchObject({
      imported: 3,
      duplicates: 1,
      failed: 2,
      errors: [
        { line: 4, column: 'rating', message: 'must be a whole number from 1 to 5' },
        { line: 5, column: 'product_id', message: 'there is no product 9999' },
      ],
    })
    const { body } = await shop.call(listReviews, { query: { source: 'import' } })
    expect(
      body.data.map((row: Record<string, unknown>) => [
        row.customerName,
        row.reviewedAt,
        row.status,
        row.text,
      ]),
    ).toEqual([
      ['Eva', '2026-03-12T15:00:00.000Z', 'pending', null],
      ['Dia', '2026-03-11T12:30:00.000Z', 'pending', 'Boa'],
      ['Ana Souza', '2026-03-10T03:00:00.000Z', 'pending', 'Linda,\nmesmo'],
    ])
    expect(data!.file).toEqual({
      url: data!.rejectedRowsUrl,
      fileName: expect.stringMatching(/^rejected-reviews-.*\.csv$/),
      contentType: 'text/csv; charset=utf-8',
    })
    const link = await app.fetch(new Request(data!.rejectedRowsUrl as string), { ip: '10.0.0.1' })
    const rejected = parse(await link.text(), { columns: true, bom: true }) as Record<string, string>[]
    expect(rejected.map((row) => [row.line, row.column, row.reviewer_name])).toEqual([
      ['4', 'rating', 'Bia'],
      ['5', 'product_id', 'Cia'],
    ])
    await send(shop, six)
    await app.drainJobs()
    expect((await imported(shop))[1]).toMatchObject({ imported: 0, duplicates: 4, failed: 2 })
    expect(await shop.mails('ana@example.com')).toEqual([])
  })

  test('an invalid character fails only its row; line numbers match an editor', async () => {
    const shop = await reviewShop(app)
    const rows = [
      '1001,5,Ana,"one\r\ntwo\r\nthree"',
      '1001,4,Bi\u0000a,Boa',
      '1001,4,Cia,"Bo\u0007a"',
      '1001,6,Dia,Boa',
    ]
    const answer = await send(shop, `product_id,rating,reviewer_name,text\r\n${rows.join('\r\n')}\r\n`)
    expect([answer.status, answer.body.error]).toEqual([202, undefined])
    await app.drainJobs()
    expect((await imported(shop))[0]).toMatchObject({
      imported: 1,
      errors: [
        { line: 5, column: 'reviewer_name', message: 'must not contain control characters' },
        { line: 6, column: 'text', message: 'must not contain control characters' },
        { line: 7, column: 'rating' },
      ],
    })
    const odd = await send(shop, 'product_id,rat\u0000ing\n1001,5\n')
    expect(odd).toMatchObject(refused(400, 'csv: its header must not contain control characters'))
  })

  test('every column is validated', async () => {
    const shop = await reviewShop(app)
    const header =
      'sku,product_handle,rating,reviewer_name,reviewer_email,body,review_date,reply,verified,status,title'
    await send(
      shop,
      `${header}
CAN-2,,5,Ana,ana@example.com,Boa,2026-04-01,Obrigada,yes,approved,Título
,caneca,4.0,Bia,,Boa,,,0,published,
CAN-1,,4,Cia,nope,Boa,,,,,
CAN-1,,4,Dia,,Boa,2026-06-01,,,,
CAN-1,,4,Eva,,Boa,ontem,,,,
CAN-1,,4,,,Boa,,,,,
,,4,Fia,,Boa,,,,,
CAN-1,,4,Gia,,${'x'.repeat(5001)},,,,,
`,
      'approved',
    )
    await app.drainJobs()
    const [data] = await imported(shop)
    expect((data!.errors as { column: string }[]).map((each) => each.column)).toEqual([
      'reviewer_email',
      'review_date',
      'review_date',
      'reviewer_name',
      'product_id',
      'text',
    ])
    const { body } = await shop.call(listReviews, { query: { sort: 'highest' } })
    expect(body.data[0]).toMatchObject({
      variantId: '2002',
      verified: true,
      verifiedSource: 'merchant',
      status: 'approved',
      title: 'Título',
      reply: { text: 'Obrigada' },
      customerEmail: 'ana@example.com',
    })
  })

  test('errors of the whole file are answered at once', async () => {
    const shop = await reviewShop(app)
    const message = async (csv: string) => {
      const { status, body } = await send(shop, csv)
      expect(status).toBe(400)
      return body.error.message
    }
    expect(await message('product_id,reviewer_name\n1001,Ana\n')).toMatch(
      /^csv: the header has no column rating \(also: Review Score/,
    )
    expect(await message('rating,reviewer_name\n5,Ana\n')).toContain('product_id, product_handle, sku')
    expect(await message('product_id,rating,reviewer_name\n')).toBe('csv: has no row below its header')
    expect(await message('product_id,rating,reviewer_name\n1001,5,"Ana\n')).toContain('begins on line 2')
    expect(await message(`product_id,rating,reviewer_name\n${'1001,5,A\n'.repeat(50_001)}`)).toContain(
      'at most 50000',
    )
    expect(await message('')).toContain('csv')
    expect((await send(shop, 'product_id,rating,reviewer_name\n1001,5,A\n', 'rejected')).status).toBe(400)
  })

  test('after a worker was killed at 200 of 450 rows, all 450 are imported once with exact counts', async () => {
    const shop = await reviewShop(app)
    const rows = Array.from({ length: 450 }, (_none, n) => `1001,${1 + (n % 5)},Person ${n},Text ${n}`)
    const csv = `product_id,rating,reviewer_name,text\n${rows.join('\n')}\n`
    const ctx = await shop.context()
    const { jobId } = await importReviews(ctx, { csv, status: 'approved' })
    // The worker dies after the first page is committed.
    let looks = 0
    const signal = {
      throwIfAborted: () => {
        looks += 1
        if (looks === 2) throw new Error('killed')
      },
    } as AbortSignal
    await expect(runImport(ctx, jobId, signal)).rejects.toThrow('killed')
    expect((await shop.call(listReviews)).body.total).toBe(200)
    // A slower worker that still holds the first page changes nothing.
    await app.drainJobs()
    expect((await shop.call(listReviews)).body.total).toBe(450)
    expect(await imported(shop)).toMatchObject([
      { imported: 450, duplicates: 0, failed: 0, rejectedRowsUrl: null },
    ])
    await runImport(ctx, jobId, new AbortController().signal)
    expect(await imported(shop)).toHaveLength(1)
  })

  test('importing the same file twice concurrently adds its reviews once', async () => {
    const shop = await reviewShop(app)
    await Promise.all([send(shop, six), send(shop, six)])
    await app.drainJobs()
    const both = await imported(shop)
    expect(both.reduce((sum, each) => sum + (each.imported as number), 0)).toBe(3)
    expect(both.map((each) => each.failed)).toEqual([2, 2])
  })

  test('own uploads stay; pictures that cannot be fetched are left out with a notice', async () => {
    const shop = await reviewShop(app)
    const png = Buffer.from('89504e470d0a1a0a', 'hex')
    const upload = (
      await shop.call(createImageUpload, {
        body: { fileName: 'a.png', contentType: 'image/png', size: png.length },
      })
    ).body
    await app.fetch(new Request(upload.uploadUrl, { method: 'PUT', headers: upload.headers, body: png }), {
      ip: '10.0.0.1',
    })
    const csv = `product_id,rating,reviewer_name,picture_urls
1001,5,Ana,${upload.fileUrl} https://127.0.0.1/a.png
1001,5,Bia,ftp://images.example/a.png
`
    await send(shop, csv)
    await app.drainJobs()
    expect((await imported(shop))[0]).toMatchObject({
      imported: 1,
      errors: [{ column: 'picture_urls', line: 3 }],
    })
    const { body } = await shop.call(listReviews, { query: { hasImages: true } })
    expect(body.data[0].images).toMatchObject([{ url: upload.fileUrl }])
    const [notice] = await shop.notices('review-images-failed')
    expect(notice!.message).toContain('https://127.0.0.1/a.png: it is at no public address')
    expect((await shop.call(deleteReview, { params: { reviewId: body.data[0].id } })).status).toBe(204)
    const uses = await readRows(shop, 'file_uses', ['owner'])
    expect(uses).toEqual([])
  })
})

describe('pictures of other hosts', () => {
  test('private addresses are refused in every form', () => {
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '172.31.0.1',
      '192.168.0.1',
      '169.254.169.254',
      '0.0.0.0',
      '100.64.0.1',
      '224.0.0.1',
      '::1',
      '::',
      'fe80::1',
      'fc00::1',
      '::ffff:127.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '2001:db8::1',
    ]) {
      expect([address, isPublicAddress(address)]).toEqual([address, false])
    }
    for (const address of ['8.8.8.8', '172.32.0.1', '2606:4700::1111'])
      expect(isPublicAddress(address)).toBe(true)
  })

  test('a picture is fetched; a too large one, a redirect to a private address and another file type fail', async () => {
    const server = createServer((request, response) => {
      const path = request.url!
      if (path === '/inside') response.writeHead(302, { location: 'https://127.0.0.1/secret' }).end()
      else if (path === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
      else if (path === '/large') {
        response.writeHead(200, { 'content-type': 'image/png' })
        response.end(Buffer.alloc(11 * 1024 * 1024))
      } else response.writeHead(200, { 'content-type': 'image/png' }).end('png')
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    // A local server replaces the internet.
    const local = ((url: URL, options: object, answer: never) =>
      get(`http://127.0.0.1:${port}${url.pathname}`, options, answer)) as unknown as typeof https.get
    const fetch = (path: string) =>
      fetchPicture(`https://images.example${path}`, { get: local, isPublic: isPublicAddress })
    try {
      expect(await fetch('/a.png')).toEqual({ bytes: Buffer.from('png'), contentType: 'image/png' })
      await expect(fetch('/large')).rejects.toThrow('more than 10 MiB')
      await expect(fetch('/page')).rejects.toThrow('no JPEG')
      await expect(fetch('/inside')).rejects.toThrow('no public address')
      await expect(fetchPicture('https://localhost:1/a.png')).rejects.toBeInstanceOf(FetchFailed)
      await expect(fetchPicture('https://localhost:1/a.png')).rejects.toThrow('no public address')
      await expect(fetchPicture('http://images.example/a.png')).rejects.toThrow('https')
    } finally {
      server.close()
    }
  })
})

test('the inbox shows the reviews of a contact by phone', async () => {
  const shop = await reviewShop(app)
  const phone = '+5511988886666'
  const ctx = await shop.context()
  const now = app.clock.now()
  const [contactId, conversationId] = [ctx.newId(), ctx.newId()]
  await ctx.db
    .insertInto('contacts')
    .values({
      id: contactId,
      phone,
      phone_key: phone,
      search_text: '',
      created_at: now,
      updated_at: now,
    } as never)
    .execute()
  await ctx.db
    .insertInto('conversations')
    .values({
      id: conversationId,
      contact_id: contactId,
      last_message_at: now,
      created_at: now,
      updated_at: now,
    } as never)
    .execute()
  const id = await shop.review({ phoneKey: phone, status: 'rejected' })
  await shop.review()
  const { body } = await shop.call(conversationReviews, { params: { id: conversationId } })
  expect(body).toMatchObject({ total: 1, data: [{ id, status: 'rejected' }] })
})
