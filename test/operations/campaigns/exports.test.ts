import { parse } from 'csv-parse/sync'
import { describe, expect, test, vi } from 'vitest'
import addContact from '#operations/campaigns/lists/api/add-contact'
import createList from '#operations/campaigns/lists/api/create-list'
import deleteList from '#operations/campaigns/lists/api/delete-list'
import exportContacts from '#operations/campaigns/lists/api/export-contacts'
import contactsExportJob from '#operations/campaigns/lists/jobs/contacts-export'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import exportOptOuts from '#operations/campaigns/opt-outs/api/export-opt-outs'
import { escapeFormula, toCsv } from '#operations/store/files/csv'
import * as exports from '#operations/store/files/exports'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { readNotices } from '#test/support/imports'
import { type Shop, store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()

/** A try that is neither the last nor aborted. */
const once = { isLast: false, signal: new AbortController().signal }
const mailTo = (to: string) => listSandboxMail(app.database.root as never, { to })
const rowOf = (id: string) =>
  app.database.root.selectFrom('exports').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const rowsOf = (bytes: Uint8Array): string[][] => parse(Buffer.from(bytes), { bom: true })

test('opt-outs are exported by email, as a CSV without formulas', async () => {
  const shop = await store(app)
  await app.setClock('2026-11-20T12:00:00Z')
  const notes = ['=1+1', '@SUM(A1)', '-2+3', '-12.50', 'plain, "quoted"\nline', '＝cmd', 'São João']
  for (const [n, note] of notes.entries()) {
    await shop.call(addOptOut, { body: { phone: `+55119888800${10 + n}`, note } })
  }
  const asked = await shop.call(exportOptOuts)
  expect([asked.status, asked.body]).toEqual([
    202,
    { jobId: expect.any(String), status: 'queued', email: shop.email },
  ])
  await app.drainJobs()
  const [mail, ...others] = await mailTo(shop.email)
  expect(others).toEqual([])
  expect(mail).toMatchObject({ subject: `Opt-outs of ${(await shop.context()).store.name}`, calls: 1 })
  const [file] = mail!.attachments
  expect(file).toMatchObject({
    fileName: `opt-outs-export-${asked.body.jobId}.csv`,
    contentType: 'text/csv; charset=utf-8',
  })
  const text = Buffer.from(file!.content).toString()
  expect(text.startsWith('\ufeffphone,source,note,campaign,created_at\r\n')).toBe(true)
  const [header, ...rows] = rowsOf(file!.content)
  expect(header).toEqual(['phone', 'source', 'note', 'campaign', 'created_at'])
  expect(rows.map((row) => row[2])).toEqual([
    'São João',
    "'＝cmd",
    'plain, "quoted"\nline',
    '-12.50',
    "'-2+3",
    "'@SUM(A1)",
    "'=1+1",
  ])
  expect(rows[6]).toEqual(['+5511988880010', 'manual', "'=1+1", '', '2026-11-20T09:00:00-03:00'])
  expect(await readNotices(shop)).toMatchObject([
    { type: 'export-ready', recipient_ids: [shop.userId], data: { jobId: asked.body.jobId, rows: 7 } },
  ])
  expect(await rowOf(asked.body.jobId)).toMatchObject({ status: 'completed', rows: 7 })
})

test('a cell that could be a formula gets an apostrophe, numbers and phones do not', () => {
  for (const text of [
    '=1',
    '+1+1',
    '-a',
    '@x',
    '\tx',
    '\rx',
    '\n=x',
    '＝1',
    '＋1',
    '－1',
    '＠x',
    '  =1',
    '+55 11',
  ]) {
    expect(escapeFormula(text), JSON.stringify(text)).toBe(`'${text}`)
  }
  for (const text of ['+5511988887777', '-1', '-1.5', '12', 'a=1', '', 'ação', "it's"])
    expect(escapeFormula(text)).toBe(text)
  const at = new Date('2026-07-01T00:30:00Z')
  expect(toCsv([[null, 12.5, true, at, 'a;b', 'a"b']], 'Asia/Kolkata')).toBe(
    ',12.5,true,2026-07-01T06:00:00+05:30,"a;b","a""b"\r\n',
  )
  expect(toCsv([[at]], 'UTC')).toBe('2026-07-01T00:30:00+00:00\r\n')
})

test('the contacts export has a column for each custom field', async () => {
  const shop = await store(app)
  const id = (await shop.call(createList, { body: { name: 'VIP' } })).body.id
  const add = (body: object) => shop.call(addContact, { params: { id }, body })
  await add({ phone: '+5511988880001', name: 'Ana', customFields: { cupom: '=A1' } })
  const bia = { phone: '+5511988880002', name: 'Bia', email: 'bia@example.com' }
  await add({ ...bia, customFields: { cidade: 'Itu' } })
  await shop.call(exportContacts, { params: { id } })
  await app.drainJobs()
  const [mail] = await mailTo(shop.email)
  const rows = rowsOf(mail!.attachments[0]!.content).map((row) => row.toSpliced(5, 1))
  expect(rows).toEqual([
    ['phone', 'name', 'email', 'source', 'opted_out', 'cidade', 'cupom', 'whatsapp_user_id'],
    ['+5511988880002', 'Bia', 'bia@example.com', 'manual', 'false', 'Itu', '', ''],
    ['+5511988880001', 'Ana', '', 'manual', 'false', '', "'=A1", ''],
  ])
})

describe('a repeated export', () => {
  test('is one job and one email while it is queued; another query or member has its own', async () => {
    const shop = await store(app)
    const member = await shop.person('member')
    const asked = await Promise.all([
      ...Array.from({ length: 5 }, () => shop.call(exportOptOuts)),
      shop.call(exportOptOuts, { query: { source: 'manual' } }),
      shop.call(exportOptOuts, { key: member.key }),
    ])
    expect(asked.map((answer) => answer.status)).toEqual(Array(7).fill(202))
    expect(new Set(asked.map((answer) => answer.body.jobId)).size).toBe(3)
    expect(new Set(asked.slice(0, 5).map((answer) => answer.body.jobId)).size).toBe(1)
    await app.drainJobs()
    expect(await mailTo(shop.email)).toHaveLength(2)
    expect(await mailTo(member.email)).toHaveLength(1)
    const later = await shop.call(exportOptOuts)
    expect(later.body.jobId).not.toBe(asked[0]!.body.jobId)
    await app.drainJobs()
  })

  test('retried after a worker died is one file and one email', async () => {
    const shop = await store(app)
    await shop.call(addOptOut, { body: { phone: '+5511988880001' } })
    const { jobId } = (await shop.call(exportOptOuts)).body
    const ctx = await shop.context()
    const completed = vi
      .spyOn(Object.getPrototypeOf(ctx), 'transaction')
      .mockRejectedValueOnce(new Error('killed'))
    await expect(exports.run(ctx, 'opt-outs-export', jobId, once)).rejects.toThrow('killed')
    completed.mockRestore()
    expect(await mailTo(shop.email)).toHaveLength(1)
    await app.drainJobs()
    const mails = await mailTo(shop.email)
    expect(mails.map((mail) => mail.calls)).toEqual([2])
    expect(await rowOf(jobId)).toMatchObject({ status: 'completed', rows: 1 })
    await exports.run(ctx, 'opt-outs-export', jobId, once)
    expect((await mailTo(shop.email))[0]!.calls).toBe(2)
    expect((await readNotices(shop)).map((notice) => notice.type)).toEqual(['export-ready'])
  })

  test('can be requested again after its worker died at the last try', async () => {
    const shop = await store(app)
    const lost = (await shop.call(exportOptOuts)).body.jobId
    await app.database.root
      .updateTable('exports')
      .set({ status: 'running', updated_at: new Date(app.clock.ms() - 7 * 3_600_000) })
      .where('id', '=', lost)
      .execute()
    const again = (await shop.call(exportOptOuts)).body.jobId
    expect(again).not.toBe(lost)
    expect(await rowOf(lost)).toMatchObject({ status: 'failed', failure_reason: 'It was interrupted' })
    await app.drainJobs()
    expect(await mailTo(shop.email)).toHaveLength(1)
  })
})

describe('a large export', () => {
  test.runIf(isFullSuite)('is streamed and sent as a link that is valid for seven days', async () => {
    const shop = await store(app)
    const id = (await shop.call(createList, { body: { name: 'Large' } })).body.id
    const now = app.clock.now()
    const fill = 'x'.repeat(450)
    for (let from = 0; from < 15_000; from += 1000) {
      await app.database.root
        .insertInto('list_contacts')
        .values(
          Array.from({ length: 1000 }, (_none, n) => ({
            store_id: shop.id,
            id: newId(now.getTime()),
            list_id: id,
            phone: `+55119${10_000_000 + from + n}`,
            phone_key: `+55119${10_000_000 + from + n}`,
            name: null,
            email: null,
            custom_fields: JSON.stringify({ note: fill }),
            source: 'csv',
            platform_customer_id: null,
            created_at: now,
            updated_at: now,
          })),
        )
        .execute()
    }
    await app.database.root
      .updateTable('contact_lists')
      .set({ size: 15_000, custom_field_names: ['note'] })
      .where('id', '=', id)
      .execute()
    const { jobId } = (await shop.call(exportContacts, { params: { id } })).body
    await app.drainJobs()
    const [mail] = await mailTo(shop.email)
    expect(mail!.attachments).toEqual([])
    const link = /https?:\S+/.exec(mail!.text)![0]
    const download = await app.fetch(new Request(link))
    expect(download.status).toBe(200)
    expect(download.headers.get('content-disposition')).toContain(`contacts-export-${jobId}.csv`)
    const rows = rowsOf(new Uint8Array(await download.arrayBuffer()))
    expect(rows).toHaveLength(15_001)
    expect(new Set(rows.slice(1).map((row) => row[0])).size).toBe(15_000)
    const unsigned = new URL(link)
    unsigned.search = ''
    expect((await app.fetch(new Request(unsigned))).status).toBe(403)

    await app.advance(7 * 24 * 3_600_000 - 60_000)
    expect((await app.fetch(new Request(link))).status).toBe(200)
    await app.advance(120_000)
    expect((await app.fetch(new Request(link))).status).toBe(403)
    await app.drainJobs()
    const left = await app.database.root.selectFrom('files').selectAll().where('id', '=', jobId).execute()
    expect(left).toEqual([])
  })
})

describe('an impossible export', () => {
  const key = (shop: Shop) => shop.key_(['platform:read', 'platform:write'])

  test('is dropped if its member was removed meanwhile', async () => {
    const shop = await store(app)
    const member = await shop.person('member')
    const { jobId } = (await shop.call(exportOptOuts, { key: member.key })).body
    await app.database.root
      .updateTable('memberships')
      .set({ removed_at: app.clock.now() })
      .where('user_id', '=', member.userId)
      .execute()
    await app.drainJobs()
    expect(await mailTo(member.email)).toEqual([])
    expect((await rowOf(jobId)).status).toBe('dropped')
    expect(await readNotices(shop)).toEqual([])
  })

  test('fails plainly when the subscription no longer allows writes', async () => {
    const shop = await store(app)
    const { jobId } = (await shop.call(exportOptOuts, { key: await key(shop) })).body
    await app.database.root
      .updateTable('subscriptions')
      .set({ status: 'paused', paused_at: app.clock.now() })
      .where('store_id', '=', shop.id)
      .execute()
    await app.drainJobs()
    expect(await mailTo(shop.email)).toEqual([])
    expect(await rowOf(jobId)).toMatchObject({
      status: 'failed',
      failure_reason: 'The subscription does not allow exports any more',
    })
    expect(await readNotices(shop)).toMatchObject([{ type: 'export-failed', level: 'error' }])
    expect((await shop.call(exportOptOuts)).status).toBe(403)
  })

  test('is not retried if the mail server refuses the address', async () => {
    const shop = await store(app)
    const member = await shop.person('member')
    const email = `nobody+bounce@${shop.slug}.example.com`
    await app.database.root.updateTable('users').set({ email }).where('id', '=', member.userId).execute()
    const asked = (await shop.call(exportOptOuts, { key: member.key })).body
    expect(asked.email).toBe(email)
    await app.drainJobs()
    expect(await rowOf(asked.jobId)).toMatchObject({
      status: 'failed',
      failure_reason: 'The mail server refused the address',
    })
    expect(await readNotices(shop)).toMatchObject([{ type: 'export-failed', recipient_ids: [member.userId] }])
  })

  test('says that its list was deleted, and is not retried', async () => {
    const shop = await store(app)
    const id = (await shop.call(createList, { body: { name: 'Gone' } })).body.id
    const { jobId } = (await shop.call(exportContacts, { params: { id } })).body
    await shop.call(deleteList, { params: { id } })
    await app.drainJobs()
    expect(await rowOf(jobId)).toMatchObject({
      status: 'failed',
      failure_reason: 'The list was deleted meanwhile',
    })
  })

  test('notifies the member once after the last try, without internal details', async () => {
    const shop = await store(app)
    const { jobId } = (await shop.call(exportOptOuts)).body
    const write = vi
      .spyOn(app.services.adapters.storage, 'write')
      .mockRejectedValue(new Error('disk /var/full'))
    for (let tries = 0; tries < 6; tries += 1) {
      await app.drainJobs({ allowFailures: true })
      await app.advance(3_600_000)
    }
    expect(write.mock.calls.filter(([name]) => name.includes(jobId))).toHaveLength(5)
    write.mockRestore()
    const notices = await readNotices(shop)
    expect(notices.map((notice) => notice.type)).toEqual(['export-failed'])
    expect(JSON.stringify(notices)).not.toContain('/var/full')
    expect(contactsExportJob.spec.retry.limit).toBe(4)
  })
})
