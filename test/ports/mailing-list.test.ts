import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { parseBrevoUrl } from '#operations/capture/mailing-list/brevo'
import { MailchimpMailingList, parseMailchimpUrl } from '#operations/capture/mailing-list/mailchimp'
import { openMailingLists } from '#operations/capture/mailing-list/providers'
import {
  sandboxList,
  sandboxMailingList,
  sandboxMembers,
  unsubscribeFromSandboxList,
} from '#operations/capture/mailing-list/sandbox'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { readSettings } from '#runtime/server/settings'
import { newId } from '#runtime/values/ids'
import { freshDatabase } from '#test/support/app'
import { frozenClock, testsBeginAt } from '#test/support/test-clock'
import { type MailchimpStandIn, mailchimpStandIn, type StandInMember } from './mailchimp-stand-in.ts'
import { aPerson, mailingListContract } from './mailing-list.contract.ts'

const apiKey = '0123456789abcdef0123456789abcdef-us21'

mailingListContract('sandbox', async () => {
  const { database } = await freshDatabase()
  const store = { id: newId(Date.parse('2026-11-20T12:00:00Z')), credentials: null }
  const mode = { store_id: store.id, port: 'mailingList', mode: 'down' }
  await database.query(
    `insert into stores (id, slug, public_id, name, domain, country, currency, timezone, joined_at, created_at, updated_at)
     values ($1, 'list', 'list', 'List', 'list.example', 'BR', 'BRL', 'UTC', $2, $2, $2)`,
    [store.id, testsBeginAt],
  )
  return {
    port: sandboxMailingList({ db: database.root, clock: frozenClock() }),
    store,
    listId: sandboxList.id,
    leaver: 'unsub@example.com',
    subscribed: () => sandboxMembers(database.root, store.id),
    tagsOf: async (email) =>
      (await sandboxMembers(database.root, store.id)).find((member) => member.email === email)?.tags ?? [],
    leave: (email) => unsubscribeFromSandboxList(database.root, store.id, email, new Date(testsBeginAt)),
    async setDown(isDown) {
      if (isDown) await database.root.insertInto('sandbox_modes').values(mode).execute()
      else await database.root.deleteFrom('sandbox_modes').where('store_id', '=', store.id).execute()
    },
    close: () => database.close(),
  }
})

const open: MailchimpStandIn[] = []
afterEach(async () => {
  for (const standIn of open.splice(0)) await standIn.close()
})

async function mailchimp() {
  const standIn = await mailchimpStandIn(apiKey, 'main')
  const port = new MailchimpMailingList({
    endpoint: () => standIn.endpoint,
    timeoutMs: 1500,
    retryDelayMs: 1,
    maxPauseMs: 50,
  })
  return { standIn, port, store: { id: 'store', credentials: { apiKey } } }
}

const hashEmail = (email: string): string => createHash('md5').update(email.toLowerCase()).digest('hex')
const put = (
  standIn: MailchimpStandIn,
  email_address: string,
  status: string,
  change: Partial<StandInMember> = {},
) =>
  standIn.members.set(hashEmail(email_address), {
    email_address,
    status,
    merge_fields: {},
    tags: [],
    ...change,
  })

mailingListContract('Mailchimp', async () => {
  const { standIn, port, store } = await mailchimp()
  put(standIn, 'unsub@example.com', 'unsubscribed')
  return {
    port,
    store,
    listId: 'main',
    leaver: 'unsub@example.com',
    subscribed: async () =>
      [...standIn.members.values()]
        .filter(({ status }) => status === 'subscribed')
        .map(({ email_address, merge_fields: { FNAME, LNAME, PHONE } }) => ({
          email: email_address,
          name: [FNAME, LNAME].filter(Boolean).join(' ') || null,
          phone: PHONE ?? null,
        })),
    tagsOf: async (email) => standIn.members.get(hashEmail(email))?.tags ?? [],
    async leave(email) {
      const member = standIn.members.get(hashEmail(email))!
      Object.assign(member, {
        status: 'unsubscribed',
        leftAt: new Date(testsBeginAt).toISOString(),
        leftThemselves: true,
      })
    },
    async setDown(isDown) {
      standIn.isDown = isDown
    },
    close: () => standIn.close(),
  }
})

describe('Mailchimp', () => {
  const started = async () => {
    const all = await mailchimp()
    open.push(all.standIn)
    const push = (...people: Parameters<typeof all.port.upsertSubscribers>[2]) =>
      all.port.upsertSubscribers(all.store, 'main', people)
    return { ...all, push }
  }

  test('new members are added by one request; existing ones are updated without a status', async () => {
    const { standIn, push } = await started()
    const [one, two] = [aPerson({ tags: ['popup'] }), aPerson()]
    await push(one, two)
    expect(standIn.requests).toEqual(['POST /3.0/lists/main'])
    expect(standIn.bodies[0]).toMatchObject({
      update_existing: false,
      members: [{ email_address: one.email, status: 'subscribed', tags: ['popup'] }, {}],
    })
    await push(one)
    expect(standIn.requests.slice(1)).toEqual([
      'POST /3.0/lists/main',
      `PUT /3.0/lists/main/members/${createHash('md5').update(one.email).digest('hex')}`,
      `POST /3.0/lists/main/members/${hashEmail(one.email)}/tags`,
    ])
    expect(standIn.bodies.at(-2)).not.toHaveProperty('status')
  })

  test.each([
    ['unsubscribed', 'unsubscribed'],
    ['forgotten', 'unsubscribed'],
    ['compliance', 'unsubscribed'],
    ['cleaned', 'invalid'],
  ])('a member who is %s there is %s here, and stays so', async (theirs, ours) => {
    const { standIn, push } = await started()
    put(standIn, 'known@example.com', theirs)
    expect(await push(aPerson({ email: 'Known@example.com' }))).toEqual([
      { email: 'Known@example.com', status: ours },
    ])
    expect([...standIn.members.values()].map(({ status }) => status)).toEqual([theirs])
  })

  test.each(['transactional', 'pending', 'archived'])(
    'a member who is %s there never unsubscribed, and is subscribed',
    async (theirs) => {
      const { standIn, push } = await started()
      put(standIn, 'known@example.com', theirs)
      const person = aPerson({ email: 'Known@example.com', tags: ['popup'] })
      expect(await push(person)).toEqual([{ email: 'Known@example.com', status: 'updated' }])
      expect([...standIn.members.values()]).toMatchObject([{ status: 'subscribed', tags: ['popup'] }])
    },
  )

  test('a member who unsubscribed and was archived since stays out', async () => {
    const { standIn, push } = await started()
    put(standIn, 'known@example.com', 'archived', { leftAt: '2026-01-01T00:00:00Z' })
    expect((await push(aPerson({ email: 'known@example.com' })))[0]!.status).toBe('unsubscribed')
    expect([...standIn.members.values()]).toMatchObject([{ status: 'archived' }])
  })

  test('only campaign recipients are removed: a buyer of the store stays one', async () => {
    const { standIn, port, store } = await started()
    put(standIn, 'buyer@example.com', 'transactional')
    put(standIn, 'waits@example.com', 'pending')
    expect(await port.unsubscribe(store, 'main', ['buyer@example.com', 'waits@example.com'])).toEqual([
      'waits@example.com',
    ])
    expect([...standIn.members.values()].map(({ status }) => status)).toEqual([
      'transactional',
      'unsubscribed',
    ])
  })

  test('unsubscribed members are read in pages of a thousand', async () => {
    const { standIn, port, store } = await started()
    for (let n = 0; n < 1001; n += 1)
      put(standIn, `left${n}@example.com`, 'unsubscribed', { leftAt: '2026-02-01T00:00:00Z' })
    put(standIn, 'long-ago@example.com', 'unsubscribed', { leftAt: '2025-01-01T00:00:00Z' })
    const sizes: number[] = []
    for await (const page of port.unsubscribedSince(store, 'main', new Date('2026-01-01T00:00:00Z')))
      sizes.push(page.length)
    expect(sizes).toEqual([1000, 1])
  })

  test("if an audience's fields reject our values, only the address is added", async () => {
    const { standIn, push } = await started()
    standIn.pickyFields.add('PHONE')
    const person = aPerson()
    expect((await push(person))[0]!.status).toBe('updated')
    expect([...standIn.members.values()]).toMatchObject([{ email_address: person.email, merge_fields: {} }])
  })

  test('at most five updates run in parallel', async () => {
    const { standIn, push } = await started()
    const people = Array.from({ length: 23 }, () => aPerson())
    await push(...people)
    expect((await push(...people)).every(({ status }) => status === 'updated')).toBe(true)
    expect(standIn.busiest).toBeLessThanOrEqual(5)
  })

  test('server errors, missing answers and broken connections are retried', async () => {
    const { standIn, push } = await started()
    standIn.faults.push({ status: 502, body: '<html>' }, 'drop')
    expect((await push(aPerson()))[0]!.status).toBe('added')
    standIn.faults.push('silence')
    expect((await push(aPerson()))[0]!.status).toBe('added')
    standIn.faults.push({ status: 500 }, { status: 500 }, { status: 500 })
    await expect(push(aPerson())).rejects.toMatchObject({ name: 'Unavailable', accepted: 'unknown' })
    standIn.faults.push({ status: 200, body: 'not JSON' }, { status: 200, body: '{' }, { status: 200 })
    await expect(push(aPerson())).rejects.toBeInstanceOf(Unavailable)
  })

  test('a retried request whose answer was lost becomes an update', async () => {
    const { standIn, push } = await started()
    const person = aPerson()
    await push(person)
    standIn.faults.push('drop')
    expect((await push(person))[0]!.status).toBe('updated')
    expect(standIn.members.size).toBe(1)
  })

  test('a short throttle is waited for, a long one is reported', async () => {
    const { standIn, push } = await started()
    const throttled = (seconds: string) => ({ status: 429, headers: { 'retry-after': seconds } })
    standIn.faults.push(throttled('0.01'), throttled('0.01'))
    expect((await push(aPerson()))[0]!.status).toBe('added')
    standIn.faults.push(throttled('120'))
    const error = await push(aPerson()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Throttled)
    expect((error as Throttled).retryAfterMs).toBe(120_000)
  })

  test('bad credentials are not retried, and no message contains them', async () => {
    const { standIn, port } = await started()
    for (const bad of ['short', 'ffffffffffffffffffffffffffffffff-us21', 'x-evil.example.com/us1', null]) {
      const error = await port
        .lists({ id: 'store', credentials: bad === null ? null : { apiKey: bad } })
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(Unavailable)
      expect((error as Error).message).not.toContain(bad ?? 'nothing')
    }
    expect(standIn.requests).toEqual(['GET /3.0/lists'])
  })

  test("a refusal is passed on in the provider's words, on one line", async () => {
    const { standIn, push } = await started()
    standIn.faults.push({ status: 400, body: JSON.stringify({ title: 'Bad Request', detail: 'Not\nnow.' }) })
    const error = await push(aPerson()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Refused)
    expect((error as Error).message).toBe('The email provider refused this: Not now.')
  })
})

describe('MAILING_LIST_URL', () => {
  const env = (url: string) => ({ MAILING_LIST_URL: url, DATA_DIR: '/tmp', SECRET_KEY: 'x'.repeat(40) })

  test('the data centre of a key is part of the host', async () => {
    expect(parseMailchimpUrl('mailchimp://api.mailchimp.com').endpoint('us21')).toBe(
      'https://us21.api.mailchimp.com',
    )
    expect(await readSettings(env('mailchimp://api.mailchimp.com'))).toMatchObject({
      mailingListUrl: 'mailchimp://api.mailchimp.com',
    })
    expect((await readSettings(env(''))).mailingListUrl).toBe('sandbox')
  })

  test('stores may choose between several', async () => {
    const both = 'mailchimp://api.mailchimp.com, brevo://api.brevo.com'
    expect(Object.keys(await openMailingLists((await readSettings(env(both))).mailingListUrl))).toEqual([
      'mailchimp',
      'brevo',
    ])
    expect(await openMailingLists('sandbox')).toEqual({})
    expect(parseBrevoUrl('brevo://api.brevo.com').endpoint).toBe('https://api.brevo.com')
    expect(() => parseBrevoUrl('brevo://key@api.brevo.com')).toThrow('MAILING_LIST_URL')
  })

  test.each([
    'https://api.mailchimp.com',
    'mailchimp://key@host',
    'mailchimp://host/path',
    'brevo://api.brevo.com,sandbox',
    'constructor://host',
  ])('%s is refused at startup', async (url) => {
    await expect(readSettings(env(url))).rejects.toThrow('MAILING_LIST_URL')
  })
})
