/** Review files of other programs are imported as they are (rule 10). The headers are those that the programs write. */
import { expect, test } from 'vitest'
import importOperation from '#operations/reviews/imports/api/import-reviews'
import { parseHeader } from '#operations/reviews/imports/columns'
import { readCsv } from '#operations/reviews/imports/csv'
import { rewriteNumericDates } from '#operations/reviews/imports/numeric-dates'
import { type ParseContext, parseRow } from '#operations/reviews/imports/rows'
import exportReviews from '#operations/reviews/reviews/api/export-reviews'
import listReviews from '#operations/reviews/reviews/api/list-reviews'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { type ReviewShop, reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { readRows } from '#test/support/csv-reader'

const app = await testApp()
await app.setClock('2026-05-01T12:00:00.000Z')

/** By program: a file with a published review of handle `caneca` by Ana, and one by Bot that the program hides. */
const programs: Readonly<Record<string, string>> = {
  'Judge.me': `title,body,rating,review_date,source,curated,reviewer_name,reviewer_email,product_id,product_handle,reply,reply_date,picture_urls,ip_address,location,metaobject_handle
Linda,"Boa, mesmo",5,2026-03-02 10:12:00 UTC,web,ok,Ana Souza,ana@example.com,7012345678901,caneca,Obrigada,2026-03-03 10:12:00 UTC,"https://judgeme.imgix.net/a.jpg,https://judgeme.imgix.net/b.jpg",1.1.1.1,BR,
Buy,Watches,5,2026-03-02 10:12:00 UTC,web,spam,Bot,bot@example.com,7012345678901,caneca,,,,,,`,
  Loox: `id,status,rating,email,nickname,full_name,review,date,productId,handle,img,variant,verified_purchase
1,Active,5,ana@example.com,,Ana Souza,"Boa, mesmo",2026-03-02T10:12:00.000Z,7012345678901,caneca,http://images.loox.io/a.jpg,M,true
2,Hidden,5,bot@example.com,Bot,Bot,Watches,2026-03-02T10:12:00.000Z,7012345678901,caneca,,M,true`,
  'Loox import template': `product_handle,rating,author,email,body,created_at,photo_url,verified_purchase,status
caneca,5,Ana Souza,ana@example.com,"Boa, mesmo",2026-03-02 10:12:00 UTC,https://images.loox.io/a.jpg,true,
caneca,5,Bot,bot@example.com,Watches,2026-03-02 10:12:00 UTC,,false,hidden`,
  Yotpo: `Review ID,Review Type,Review Status,Review Creation Date,Review Title,Review Content,Review Score,Reviewer Display Name,Reviewer Email,Product ID,Product Handle,Order ID,Published Image URLs,Profanity Flag
1,product_review,Published,2026-03-02 10:12:00 UTC,Linda,"Boa, mesmo",5,Ana Souza,ana@example.com,7012345678901,caneca,99,https://cdn.yotpo.com/a.jpg; https://cdn.yotpo.com/b.jpg,0
2,product_review,Rejected,2026-03-02 10:12:00 UTC,Buy,Watches,5,Bot,bot@example.com,7012345678901,caneca,,,1`,
  'Yotpo with product addresses': `Review Title;Review Content;Review Score;Date;Product ID;Product Title;Product URL;Display Name;Email;Verified Purchase;Published
Linda;"Boa, mesmo";5;2026-03-02;999;Caneca;https://loja.example/products/caneca?variant=1;Ana Souza;ana@example.com;Yes;TRUE
Buy;Watches;5;2026-03-02;999;Caneca;https://loja.example/products/caneca/;Bot;bot@example.com;No;FALSE`,
  'Shopify Product Reviews': `product_handle,state,rating,title,author,email,location,body,reply,created_at,replied_at
caneca,published,5,Linda,Ana Souza,ana@example.com,São Paulo,"Boa, mesmo",Obrigada,2026-03-02 10:12:00 -0300,2026-03-03 10:12:00 -0300
caneca,unpublished,5,Buy,Bot,bot@example.com,,Watches,,2026-03-02 10:12:00 -0300,`,
  Stamped: `id,productId,productTitle,productUrl,author,email,location,reviewRating,reviewTitle,reviewMessage,reviewReply,dateCreated,reviewVerifiedType,published
1,7012345678901,Caneca,https://loja.example/products/caneca,Ana Souza,ana@example.com,BR,5,Linda,"Boa, mesmo",Obrigada,2026-03-02T10:12:00Z,2,true
2,7012345678901,Caneca,https://loja.example/products/caneca,Bot,bot@example.com,BR,5,Buy,Watches,,2026-03-02T10:12:00Z,0,false`,
  'Stamped import template': `product_id,product_handle,author,email,location,rating,title,body,created_at,state,photos
,caneca,Ana Souza,ana@example.com,BR,5,Linda,"Boa, mesmo",2026-03-02 10:12:00,published,https://cdn.stamped.io/a.jpg
,caneca,Bot,bot@example.com,BR,5,Buy,Watches,2026-03-02 10:12:00,spam,`,
  Okendo: `reviewId,productId,handle,rating,title,body,reviewer.name,reviewer.email,dateCreated,status,imageUrls
r1,gid://shopify/Product/7012345678901,caneca,5,Linda,"Boa, mesmo",Ana Souza,ana@example.com,2026-03-02T10:00:00Z,approved,"[""https://a.example/1.jpg"",""https://a.example/2.jpg""]"
r2,gid://shopify/Product/7012345678901,caneca,5,Buy,Watches,Bot,bot@example.com,2026-03-02T10:00:00Z,archived,`,
}

const imported = async (shop: ReviewShop) => (await shop.notices('review-import-completed')).at(-1)!.data

test.each(Object.entries(programs))(
  '%s: the published review goes in, the hidden one is never published',
  async (_name, csv) => {
    const shop = await reviewShop(app)
    const answer = await shop.call(importOperation, { body: { csv, status: 'approved' } })
    expect([answer.status, answer.body.error]).toEqual([202, undefined])
    await app.drainJobs()
    expect(await imported(shop)).toMatchObject({ imported: 2, failed: 0, errors: [] })
    const { body } = await shop.call(listReviews, { query: { source: 'import' } })
    const byName = Object.fromEntries(
      body.data.map((each: { customerName: string }) => [each.customerName, each]),
    )
    expect(byName).toMatchObject({
      'Ana Souza': {
        productId: '1001',
        customerEmail: 'ana@example.com',
        rating: 5,
        text: 'Boa, mesmo',
        status: 'approved',
      },
      Bot: { status: 'rejected' },
    })
    expect(byName['Ana Souza'].reviewedAt).toMatch(/^2026-03-02T/)
  },
)

const context = (header: string[]): ParseContext => ({
  columns: parseHeader(header),
  timezone: 'UTC',
  now: app.clock.now(),
  isUploadedHere: () => false,
})
const base = ['product_id', 'rating', 'reviewer_name']
const parseOne = (more: Record<string, string>) =>
  parseRow(2, ['1', '5', 'Ana', ...Object.values(more)], context([...base, ...Object.keys(more)]))

test('an address of a picture may contain commas and semicolons', () => {
  const cloudinary = 'https://res.cloudinary.com/x/image/upload/w_300,h_300,c_fill/v1/a.jpg'
  const other = 'https://a.example/b;v=1.png'
  for (const between of [' ', ',', ', ', ';', '; ', '\n', '|', ' | ']) {
    expect(parseOne({ picture_urls: `${cloudinary}${between}${other}` })).toMatchObject({
      pictures: [cloudinary, other],
    })
  }
  expect(parseOne({ picture_urls: 'a.png,b.png' })).toMatchObject({ column: 'picture_urls' })
})

test('a status of another program never publishes what it hides; one that we do not know waits', () => {
  for (const [more, status] of [
    [{ curated: 'spam' }, 'rejected'],
    [{ curated: 'not-yet' }, 'pending'],
    [{ curated: 'ok' }, null],
    [{ curated: 'ok', published: 'false' }, 'rejected'],
    [{ state: 'unpublished' }, 'rejected'],
    [{ status: 'Shadow Banned' }, 'rejected'],
    [{ status: 'in the queue' }, 'pending'],
    [{ status: '' }, null],
    [{ status: 'approved', hidden: 'true' }, 'rejected'],
    [{ status: 'approved', hidden: 'false', deleted_at: '' }, 'approved'],
    [{ status: 'Published', deleted_at: '2026-01-01' }, 'rejected'],
    [{ publicado: 'não' }, 'rejected'],
    [{ publicado: 'Sim' }, null],
  ] as const) {
    expect([more, parseOne(more)]).toMatchObject([more, { status }])
  }
})

test('a file may be UTF-16, separated by tabs, or name its delimiter', async () => {
  const text = 'product_id\trating\treviewer_name\n1\t5\tJoão Łuk\n'
  const cells = [{ line: 2, cells: ['1', '5', 'João Łuk'] }]
  const little = Buffer.from(`\ufeff${text}`, 'utf16le')
  const big = Buffer.from(little).swap16()
  for (const file of [
    text,
    `\ufeff${text}`,
    ...[little, big, little.subarray(2), big.subarray(2)].map((bytes) => bytes.toString('latin1')),
  ]) {
    expect((await readCsv(file)).rows).toEqual(cells)
  }
  await expect(readCsv(little.toString('utf8'))).rejects.toThrow('send it as UTF-8')
  const plain = Buffer.from('\ufeffproduct_id,rating\n1,5\n', 'utf16le').toString('utf8')
  expect((await readCsv(plain)).rows).toEqual([{ line: 2, cells: ['1', '5'] }])
  for (const first of ['sep=;', '\ufeffsep=;', '"sep=;"', 'SEP=;']) {
    const named = `${first}\r\nproduct_id;text,rating;x\r\n1;"a\r\nb";y\r\n2;c;d\r\n`
    expect(await readCsv(named)).toEqual({
      header: ['product_id', 'text,rating', 'x'],
      rows: [
        { line: 3, cells: ['1', 'a\nb', 'y'] },
        { line: 5, cells: ['2', 'c', 'd'] },
      ],
    })
  }
})

test('numeric dates are read if their column shows whether the day or the month comes first', () => {
  for (const [dates, read] of [
    [
      ['3/15/2026 3:45:10 PM', '3/2/2026 12:05 AM', ''],
      ['2026-03-15 15:45:10', '2026-03-02 00:05:00', ''],
    ],
    [
      ['15/03/2026', '2/3/2026 09:30'],
      ['2026-03-15', '2026-03-02 09:30:00'],
    ],
    [
      ['15.03.2026', '2.3.2026'],
      ['2026-03-15', '2026-03-02'],
    ],
    [
      ['2/3/2026', '2026-03-15'],
      ['2/3/2026', '2026-03-15'],
    ],
    [
      ['15/03/2026', '03/15/2026'],
      ['15/03/2026', '03/15/2026'],
    ],
  ] as const) {
    const rows = dates.map((date) => ({ cells: [date as string] }))
    rewriteNumericDates(rows, [0])
    expect(rows.map(({ cells }) => cells[0])).toEqual(read)
  }
})

test('a product is found by its id, else its handle, else its SKU', async () => {
  const shop = await reviewShop(app)
  const csv = `product_id,handle,Variant SKU,rating,reviewer_name
1001.0,,,5,Ana
999,caneca,,5,Bia
999,nada,="CAN-2",5,Cia
999,nada,NADA,5,Dia
`
  await shop.call(importOperation, { body: { csv } })
  await app.drainJobs()
  expect(await imported(shop)).toMatchObject({
    imported: 3,
    errors: [{ line: 5, column: 'product_id', message: 'there is no product 999, nada, NADA' }],
  })
})

test('one 400 names all missing columns and what each may be called', async () => {
  const shop = await reviewShop(app)
  const { status, body } = await shop.call(importOperation, { body: { csv: 'a,b\n1,2\n' } })
  expect(status).toBe(400)
  for (const name of ['product_id', 'handle', 'sku', 'rating', 'Review Score', 'reviewer_name', 'author']) {
    expect(body.error.message).toContain(name)
  }
})

test('the export of reviews is imported without change, and so are the corrected rejected rows', async () => {
  const shop = await reviewShop(app)
  for (const name of ['Ana "A"; Souza', "'=1", '=1+1', 'Bia\nReis']) {
    await shop.review({ name, text: `${name}, boa`, status: 'approved' })
  }
  const count = async () => (await shop.call(listReviews)).body.total
  await shop.call(exportReviews)
  await app.drainJobs()
  const [mail] = await listSandboxMail(app.database.root as never, { to: shop.email })
  const csv = Buffer.from(mail!.attachments[0]!.content).toString()
  expect(readRows(csv)).toHaveLength(5)
  await shop.call(importOperation, { body: { csv, status: 'approved' } })
  await app.drainJobs()
  expect(await imported(shop)).toMatchObject({ imported: 0, duplicates: 4, failed: 0 })
  expect(await count()).toBe(4)

  const bad = 'line,product_id,rating,reviewer_name,text\nx,1001,6,=Ana,"\'=1, boa"\ny,1001,5,Bia,Boa\n'
  await shop.call(importOperation, { body: { csv: bad } })
  await app.drainJobs()
  let data = await imported(shop)
  expect(data).toMatchObject({ imported: 1, failed: 1 })
  for (const rating of ['7', '5']) {
    const link = await app.fetch(new Request(data.rejectedRowsUrl as string), { ip: '10.0.0.1' })
    const rejected = await link.text()
    expect(readRows(rejected)[0]).toEqual([
      'line',
      'column',
      'problem',
      'product_id',
      'rating',
      'reviewer_name',
      'text',
    ])
    const corrected = rejected.replace(/,[67],/, `,${rating},`)
    await shop.call(importOperation, { body: { csv: corrected } })
    await app.drainJobs()
    data = await imported(shop)
  }
  expect(data).toMatchObject({ imported: 1, failed: 0 })
  const { body } = await shop.call(listReviews, { query: { source: 'import', search: 'boa' } })
  expect(body.data.map((each: Record<string, unknown>) => [each.customerName, each.text])).toContainEqual([
    '=Ana',
    '=1, boa',
  ])
})
