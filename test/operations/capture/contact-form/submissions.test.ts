import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import createList from '#operations/campaigns/lists/api/create-list'
import deleteList from '#operations/campaigns/lists/api/delete-list'
import listContacts from '#operations/campaigns/lists/api/list-contacts'
import deleteSubmissions from '#operations/capture/contact-form/api/delete-submissions'
import exportSubmissions from '#operations/capture/contact-form/api/export-submissions'
import getFormSettings from '#operations/capture/contact-form/api/get-form-settings'
import listCrmLists from '#operations/capture/contact-form/api/list-crm-lists'
import listSubmissions from '#operations/capture/contact-form/api/list-submissions'
import updateFormSettings from '#operations/capture/contact-form/api/update-form-settings'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { formShop, readSubscribers, visit } from '#test/support/capture'
import { refused } from '#test/support/refused'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
const mailTo = (to: string) => listSandboxMail(app.database.root as never, { to })
const list = async (shop: Shop, query = {}) => (await shop.call(listSubmissions, { query })).body
const field = (key: string, type: string, more = {}) => ({ key, label: key, type, ...more })
const person = { name: 'Ana Souza', email: 'ana@example.com', message: 'Do you ship to Recife?' }

describe('settings of the contact form', () => {
  test('have defaults until they are saved', async () => {
    const shop = await store(app)
    const first = (await shop.call(getFormSettings)).body
    expect(first).toMatchObject({
      isEnabled: false,
      title: 'Contact us',
      updatedAt: null,
      fields: [
        { key: 'name', type: 'text', required: true, placeholder: null, options: null },
        { key: 'email', required: true },
        { key: 'phone', required: false },
        { key: 'message', type: 'textarea', required: true },
      ],
    })
  })

  test('settings are validated as a whole', async () => {
    const shop = await store(app)
    const faults: [Record<string, unknown>, string][] = [
      [{ isEnabled: true, fields: [field('message', 'textarea')] }, 'fields: at least one must be of type'],
      [{ fields: [field('email', 'text')] }, 'fields.0.type: of the key email must be email'],
      [{ fields: [field('a', 'text'), field('a', 'email')] }, 'fields.1.key: a is used twice'],
      [{ fields: [field('a', 'select')] }, 'fields.0.options: a select needs options'],
      [{ fields: [field('a', 'text', { options: ['x'] })] }, 'fields.0.options: must be null'],
      [{ notifyEmails: ['nobody'] }, 'notifyEmails.0: must be an email address'],
    ]
    for (const [body, message] of faults) {
      expect(await shop.call(updateFormSettings, { body })).toMatchObject(refused(400, message))
    }
  })
})

describe('POST /contact-form/submissions', () => {
  test('a submission is listed, added to the list, emailed and notified; a second one is already in the list', async () => {
    const shop = await formShop(app, { notifyEmails: ['help@shop.example.com', 'HELP@shop.example.com'] })
    const { id } = (await shop.call(createList, { body: { name: 'VIP' } })).body
    await shop.call(createList, { body: { name: 'Another' } })
    await shop.save({ crmListId: id })
    expect((await shop.call(listCrmLists)).body.data).toMatchObject([
      { name: 'Another', isSelected: false },
      { id, name: 'VIP', size: 0, isSelected: true },
    ])
    const sent = await shop.send(
      { ...person, phone: '(11) 98888-7777' },
      { pageUrl: 'https://shop.example.com/c' },
    )
    expect([sent.status, sent.body]).toEqual([201, { status: 'received' }])
    await shop.send({ ...person, name: 'Ana again', phone: '+55 11 8888 7777' })
    await shop.send({ name: 'Rui', email: 'rui@example.com', message: 'Hi' })
    const { data, total } = await list(shop)
    const contacts = (await shop.call(listContacts, { params: { id } })).body.data
    expect(contacts).toMatchObject([{ phone: '+5511988887777', name: 'Ana Souza', source: 'contact-form' }])
    expect(total).toBe(3)
    expect(data).toMatchObject([
      { name: 'Rui', phone: null, crmListId: id, crmStatus: 'no-phone', contactId: null },
      { name: 'Ana again', crmStatus: 'already-in-list', contactId: contacts[0].id },
      {
        ...person,
        phone: '+5511988887777',
        values: {},
        pageUrl: 'https://shop.example.com/c',
        crmListId: id,
        crmStatus: 'added',
        contactId: contacts[0].id,
      },
    ])
    await app.drainJobs()
    const mails = await mailTo('help@shop.example.com')
    expect(mails.map(({ calls, replyTo }) => `${calls} ${replyTo}`).sort()).toEqual([
      '1 ana@example.com',
      '1 ana@example.com',
      '1 rui@example.com',
    ])
    const notices = await app.database.root
      .selectFrom('notifications')
      .select('message')
      .where('store_id', '=', shop.id)
      .where('type', '=', 'contact-form-submission')
      .orderBy('id')
      .execute()
    expect(notices[0]).toEqual({ message: 'Ana Souza wrote to the store.' })
    expect(notices).toHaveLength(3)
    await shop.call(deleteList, { params: { id } })
    expect((await shop.call(getFormSettings)).body.crmListId).toBeNull()
  })

  test('other keys are stored as values; each issue names its field', async () => {
    const shop = await formShop(app, {
      consentRequired: true,
      fields: [
        field('email', 'email', { required: true }),
        field('size', 'select', { options: ['S', 'M'], required: true }),
        field('gift', 'checkbox'),
        field('age', 'text'),
        field('mobile', 'phone'),
      ],
    })
    const good = { email: 'a@example.com', size: 'M' }
    const faults: [Record<string, unknown>, Record<string, unknown>, string][] = [
      [good, {}, 'consent: must be ticked'],
      [{ size: 'M' }, { consent: true }, 'values.email: is required'],
      [{ ...good, email: 'no' }, { consent: true }, 'values.email: must be an email address'],
      [{ ...good, size: 'XL' }, { consent: true }, 'values.size: must be one of its options'],
      [{ ...good, gift: 'yes' }, { consent: true }, 'values.gift: must be true or false'],
      [{ ...good, age: true }, { consent: true }, 'values.age: must be text'],
      [{ ...good, age: 'x'.repeat(201) }, { consent: true }, 'values.age: must have at most 200'],
      [{ ...good, mobile: '12' }, { consent: true }, 'values.mobile: is not a phone number'],
      [{ ...good, other: 'x' }, { consent: true }, 'values.other: is not a known field'],
    ]
    for (const [values, fields, message] of faults) {
      expect(await shop.send(values, fields)).toMatchObject(refused(400, message))
    }
    await shop.send({ ...good, gift: true, age: ' ', mobile: '11 98888-7777' }, { consent: true })
    expect((await list(shop)).data).toMatchObject([
      {
        name: null,
        phone: null,
        values: { size: 'M', gift: true, mobile: '+5511988887777' },
        crmStatus: null,
      },
    ])
  })

  test('an email with consent also becomes a subscriber, once', async () => {
    const shop = await formShop(app, { subscribeToNewsletter: true })
    await shop.send({ ...person, email: 'no@example.com' })
    await shop.send(person, { consent: true })
    await shop.send({ ...person, email: 'ANA@example.com' }, { consent: true })
    const subscribers = await readSubscribers(shop)
    expect(subscribers).toMatchObject([
      { email: 'ana@example.com', source: 'contact-form', consent_email: true, coupon_code: null },
    ])
  })

  test('bots, unknown stores and disabled forms store nothing', async () => {
    const shop = await formShop(app)
    expect((await shop.send(person, { website: 'x' })).status).toBe(201)
    const fresh = (await visit(shop, 'GET', '/contact-form')).body.token
    expect((await shop.send(person, { token: fresh })).status).toBe(201)
    expect((await shop.send(person, { token: 'forged' })).status).toBe(400)
    expect((await list(shop)).total).toBe(0)
    const { body } = await visit(shop, 'GET', '/contact-form')
    expect(Object.keys(body.settings)).not.toEqual(expect.arrayContaining(['notifyEmails', 'crmListId']))
    await shop.save({ isEnabled: false })
    const off = await shop.send(person)
    expect(off.status).toBe(404)
    const unknown = await visit(shop, 'POST', '/contact-form/submissions', { publicId: 'no', body: {} })
    expect([unknown.status, unknown.body]).toEqual([404, off.body])
    expect((await visit(shop, 'GET', '/contact-form')).body).toEqual({ enabled: false })
  })
})

describe('the list of submissions', () => {
  test('filters by search and days; a deletion counts each id once', async () => {
    await app.setClock('2026-11-21T02:00:00Z')
    const shop = await formShop(app)
    await app.setClock('2026-11-21T02:30:00Z')
    await shop.send({
      name: 'Bia',
      email: 'bia@example.com',
      phone: '+5511966665555',
      message: 'A 100% question',
    })
    await app.setClock('2026-11-21T03:30:00Z')
    await shop.send({ name: 'Caio', email: 'caio@example.com', message: 'Another' })
    const names = async (query: object) =>
      (await list(shop, query)).data.map((each: { name: string }) => each.name)
    expect(await names({ search: 'BIA' })).toEqual(['Bia'])
    expect(await names({ search: '100%' })).toEqual(['Bia'])
    expect(await names({ search: '6666-5555' })).toEqual(['Bia'])
    expect(await names({ search: '_' })).toEqual([])
    expect(await names({ startDate: '2026-11-21' })).toEqual(['Caio'])
    expect(await names({ endDate: '2026-11-20' })).toEqual(['Bia'])
    const own = (await list(shop)).data[0].id
    const deleted = await shop.call(deleteSubmissions, { body: { ids: [own, own, newId(1)] } })
    expect([deleted.status, deleted.body]).toEqual([200, { deleted: 1 }])
    expect(await names({})).toEqual(['Bia'])
  })

  test('HTML and formulas are returned as text: in JSON, in the email, in the CSV', async () => {
    const shop = await formShop(app, {
      notifyEmails: ['safe@shop.example.com'],
      fields: [
        field('name', 'text'),
        field('email', 'email'),
        field('message', 'textarea'),
        field('note', 'text'),
      ],
    })
    const evil = '<script>alert(1)</script>'
    await shop.send({
      name: evil,
      email: 'x@example.com',
      message: '=HYPERLINK("http://evil")',
      note: '@SUM(A1)',
    })
    await app.drainJobs()
    expect((await list(shop)).data[0]).toMatchObject({ name: evil, values: { note: '@SUM(A1)' } })
    const [mail] = await mailTo('safe@shop.example.com')
    expect(mail!.html).not.toContain('<script')
    const asked = await shop.call(exportSubmissions)
    expect(asked.status).toBe(202)
    await app.drainJobs()
    const [sent] = await mailTo(shop.email)
    const [header, row]: string[][] = parse(Buffer.from(sent!.attachments[0]!.content), { bom: true })
    expect(header).toEqual(['created_at', 'name', 'email', 'phone', 'message', 'page_url', 'note'])
    expect(row!.slice(1)).toEqual([evil, 'x@example.com', '', `'=HYPERLINK("http://evil")`, '', "'@SUM(A1)"])
  })
})
