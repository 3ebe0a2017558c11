/** The team, its invitations and the pages behind their links (store, rule 14). */

import { afterAll, describe, expect, test } from 'vitest'
import { invitationEmail } from '#operations/store/handles'
import updateStore from '#operations/store/profile/api/update-store'
import createInvitation from '#operations/store/team/api/create-invitation'
import getTeam from '#operations/store/team/api/get-team'
import removeMember from '#operations/store/team/api/remove-member'
import revokeInvitation from '#operations/store/team/api/revoke-invitation'
import { invitationToken } from '#operations/store/team/invitations'
import invitationEmailJob from '#operations/store/team/jobs/invitation-email'
import { weekMs } from '#runtime/durations'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import type { Role } from '#runtime/roles'
import { sha256 } from '#runtime/values/ids'
import { freshDatabase, testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const { database } = await freshDatabase()
/** Removed members as sections are notified of them; in stores of `holding` a section throws. */
const removed: { storeId: string; userId: string }[] = []
const holding = new Set<string>()
const app = await testApp(
  {},
  {
    database,
    shared: true,
    extensions: {
      memberRemoved: [
        async (ctx, userId) => {
          if (holding.has(ctx.store.id)) throw new Error('a section fails')
          removed.push({ storeId: ctx.store.id, userId })
        },
      ],
    },
  },
)
/** Another instance on the same database, with its own cache. */
const other = await testApp({}, { database, shared: true })
// Before the first of the two closes the database.
afterAll(() => app.gateway.keys.flushUses())

const invite = (shop: Shop, email: string, role: Role = 'member', key?: string) =>
  shop.call(createInvitation, { body: { email, role }, ...(key ? { key } : {}) })
const revoke = (shop: Shop, id: string) => shop.call(revokeInvitation, { params: { id } })
const remove = (shop: Shop, userId: string, key = shop.key) =>
  shop.call(removeMember, { params: { userId }, key })
const team = async (shop: Shop, key = shop.key) => (await shop.call(getTeam, { key })).body
const owners = async (shop: Shop) =>
  (await team(shop)).members.filter((each: { role: string }) => each.role === 'owner').length

async function linkTo(email: string): Promise<string> {
  await app.drainJobs()
  const [mail] = await listSandboxMail(database.root as never, { to: email, limit: 1 })
  return /http\S+\/invitations\/\S+/.exec(mail!.text)![0]
}
const open = (link: string) => app.fetch(new Request(link))
const accept = (link: string, body: string, headers: Record<string, string> = {}) =>
  app.fetch(new Request(link, { method: 'POST', body, headers }))

const use = (shop: Shop, key: string, on = app) =>
  on.fetch(new Request('http://localhost/v1/store', { headers: { authorization: `Bearer ${key}` } }), {
    ip: shop.slug,
  })

describe('GET /stores/team', () => {
  test('lists owners first, then by name, with their active keys and last activity', async () => {
    await app.setClock('2026-11-20T12:00:00.000Z')
    const shop = await store(app)
    const agent = await shop.person('agent')
    const member = await shop.person('member')
    await shop.key_(['platform:read'], member.email)
    await use(shop, member.key)
    await app.gateway.keys.flushUses()
    const { members, invitations } = await team(shop, agent.key)
    expect(invitations).toEqual([])
    expect(members).toEqual([
      expect.objectContaining({ userId: shop.userId, role: 'owner', isYou: false, activeKeyCount: 1 }),
      {
        userId: agent.userId,
        name: 'agent 1',
        email: agent.email,
        role: 'agent',
        isYou: true,
        activeKeyCount: 1,
        lastActiveAt: null,
        joinedAt: '2026-11-20T12:00:00.000Z',
        createdAt: '2026-11-20T12:00:00.000Z',
        updatedAt: '2026-11-20T12:00:00.000Z',
      },
      expect.objectContaining({
        userId: member.userId,
        isYou: false,
        activeKeyCount: 2,
        lastActiveAt: '2026-11-20T12:00:00.000Z',
      }),
    ])
  })
})

describe('an invitation', () => {
  test('is unique by email ignoring case, and revoked once, which invalidates its link', async () => {
    const shop = await store(app)
    const address = `New@${shop.slug}.example.com`
    const first = await invite(shop, address, 'agent')
    expect(first.status).toBe(201)
    expect(first.body).toEqual({
      id: expect.any(String),
      email: address,
      role: 'agent',
      status: 'pending',
      invitedBy: { userId: shop.userId, name: 'Olivia Owner' },
      expiresAt: new Date(app.clock.ms() + weekMs).toISOString(),
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
    })
    expect((await team(shop)).invitations).toEqual([first.body])
    expect((await invite(shop, `${address.toLowerCase()} `)).status).toBe(409)

    const link = await linkTo(address)
    expect((await revoke(shop, first.body.id)).status).toBe(204)
    expect((await revoke(shop, first.body.id)).status).toBe(409)
    expect((await open(link)).status).toBe(410)
    expect((await accept(link, '{"name":"New"}')).status).toBe(410)
    expect((await team(shop)).invitations).toEqual([])

    const second = await invite(shop, address)
    expect(second.status).toBe(201)
    const page = await open(await linkTo(address))
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('<form method="post">')
    expect((await accept(await linkTo(address), '{"name":"New Person"}')).status).toBe(200)
    expect((await invite(shop, address)).status).toBe(409)
  })

  test('its email is sent once, and neither a job nor the database contains the token', async () => {
    const shop = await store(app)
    const address = `once@${shop.slug}.example.com`
    const { body } = await invite(shop, address)
    const link = await linkTo(address)
    const token = link.split('/').at(-1)!
    expect(token).toBe(invitationToken(app.services.settings, body.id))
    const [row] = await database.query<{ token_hash: string }>(
      'select token_hash from invitations where id = $1',
      [body.id],
    )
    expect(row!.token_hash).toBe(sha256(token))
    const held = await database.query(
      `select 1 from pgboss.job j where strpos(j::text, $1) > 0
       union all select 1 from invitations i where strpos(i::text, $1) > 0`,
      [token],
    )
    expect(held).toEqual([])
    const ctx = await shop.context()
    await ctx.queue(invitationEmail, { invitationId: body.id })
    await app.drainJobs()
    const mails = await listSandboxMail(database.root as never, { to: address, limit: 10 })
    expect(mails).toHaveLength(1)
    expect(mails[0]!.text).toContain('Olivia Owner convida você para a equipe de')
  })

  test.each([
    ['en-US', 'Join the team of', 'Accept the invitation', 'Welcome to the team', 'no longer open'],
    ['pt-BR', 'Entre para a equipe de', 'Aceitar o convite', 'Boas-vindas à equipe', 'não está mais aberto'],
    ['es-MX', 'Únete al equipo de', 'Aceptar la invitación', 'Te damos la bienvenida', 'ya no está abierta'],
  ])(
    'its email and its pages are in the language of the store (%s)',
    async (locale, title, button, welcome, dead) => {
      const shop = await store(app, { locale })
      const address = `speaks@${shop.slug}.example.com`
      await invite(shop, address)
      const link = await linkTo(address)
      const [mail] = await listSandboxMail(database.root as never, { to: address, limit: 1 })
      const pages = [await open(link), await accept(link, 'name=Bia'), await open(link)]
      const texts = await Promise.all(pages.map((each) => each.text()))
      expect([mail!.subject, mail!.html]).toEqual([
        expect.stringContaining(title),
        expect.stringContaining(button),
      ])
      for (const [at, words] of [button, welcome, dead].entries()) {
        expect(texts[at]).toContain(words)
        expect(texts[at]).toContain(`<html lang="${locale}">`)
      }
    },
  )

  test('revoked before its email is sent, no email is sent', async () => {
    const shop = await store(app)
    const address = `never@${shop.slug}.example.com`
    const { body } = await invite(shop, address)
    await revoke(shop, body.id)
    await app.drainJobs()
    expect(await listSandboxMail(database.root as never, { to: address, limit: 1 })).toEqual([])
  })

  test('is valid for seven days to the millisecond, then does not block a new one', async () => {
    const shop = await store(app)
    const address = `late@${shop.slug}.example.com`
    const { body } = await invite(shop, address)
    const link = await linkTo(address)
    await app.advance(weekMs - 1)
    expect((await open(link)).status).toBe(200)
    expect((await team(shop)).invitations).toHaveLength(1)
    await app.advance(1)
    expect((await open(link)).status).toBe(410)
    expect((await accept(link, 'name=Late')).status).toBe(410)
    expect((await revoke(shop, body.id)).status).toBe(409)
    expect((await team(shop)).invitations).toEqual([])
    expect((await invite(shop, address)).status).toBe(201)
  })

  test('two concurrent invitations of the same email make one', async () => {
    const shop = await store(app)
    for (let round = 0; round < 5; round += 1) {
      const address = `twice-${round}@${shop.slug}.example.com`
      const answers = await Promise.all([invite(shop, address), invite(shop, address.toUpperCase())])
      expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409])
    }
  })

  test('is refused for a member, for a full team, and for invalid input', async () => {
    const shop = await store(app)
    expect((await invite(shop, shop.email.toUpperCase())).status).toBe(409)
    for (const [body, field] of [
      [{ email: 'nobody', role: 'agent' }, 'email'],
      [{ email: `${'x'.repeat(250)}@example.com`, role: 'agent' }, 'email'],
      [{ email: 'a@example.com', role: 'boss' }, 'role'],
      [{ email: 'a@example.com' }, 'role'],
      [{ role: 'agent' }, 'email'],
    ] as const) {
      const answer = await shop.call(createInvitation, { body })
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(field)])
    }
    const ids: string[] = []
    for (let i = 1; i < 50; i += 1) {
      const answer = await invite(shop, `guest-${i}@${shop.slug}.example.com`)
      expect(answer.status).toBe(201)
      ids.push(answer.body.id)
    }
    const full = await invite(shop, `guest-50@${shop.slug}.example.com`)
    expect([full.status, full.body.error.message]).toEqual([409, expect.stringContaining('50 members')])
    await revoke(shop, ids[0]!)
    const last = ['a', 'b'].map((name) => invite(shop, `${name}@${shop.slug}.example.com`))
    expect((await Promise.all(last)).map((answer) => answer.status).sort()).toEqual([201, 409])
  })

  test('if its email keeps failing, the inviter is notified', async () => {
    const shop = await store(app)
    const { body } = await invite(shop, `lost@${shop.slug}.example.com`)
    const ctx = await shop.context()
    await invitationEmailJob.spec.failed!(ctx as never, { invitationId: body.id } as never, 'refused')
    const notices = await ctx.db.selectFrom('notifications').select(['type', 'recipient_ids']).execute()
    expect(notices).toEqual([{ type: 'invitation-failed', recipient_ids: [shop.userId] }])
  })
})

describe('accepting', () => {
  test('a new person joins with the name of the form, and the store is notified', async () => {
    const shop = await store(app)
    const address = `form@${shop.slug}.example.com`
    await invite(shop, address, 'agent')
    const link = await linkTo(address)
    const nameless = await accept(link, 'name=', { 'content-type': 'application/x-www-form-urlencoded' })
    expect(nameless.status).toBe(400)
    const page = await accept(link, 'name=Ada+%3CNova%3E', {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(address)])
    const { members, invitations } = await team(shop)
    expect(invitations).toEqual([])
    expect(members.at(-1)).toMatchObject({
      name: 'Ada <Nova>',
      email: address,
      role: 'agent',
      activeKeyCount: 0,
    })
    expect((await accept(link, 'name=Again')).status).toBe(410)
    const ctx = await shop.context()
    const notices = await ctx.db.selectFrom('notifications').select(['type', 'title']).execute()
    expect(notices).toEqual([{ type: 'member-joined', title: 'Ada <Nova> joined the team' }])
  })

  test('a known person keeps their name and joins a second store', async () => {
    const shop = await store(app)
    const second = await store(app)
    await invite(second, shop.email.toUpperCase())
    const link = await linkTo(shop.email.toUpperCase())
    expect(await (await open(link)).text()).toContain('conhecido aqui como Olivia Owner')
    const answer = await accept(link, '{}', { 'content-type': 'application/json' })
    expect(await answer.json()).toMatchObject({ status: 'accepted', role: 'member' })
    expect((await team(second)).members.at(-1)).toMatchObject({ userId: shop.userId, name: 'Olivia Owner' })
  })

  test('only one of two concurrent calls accepts', async () => {
    const shop = await store(app)
    const address = `race@${shop.slug}.example.com`
    await invite(shop, address)
    const link = await linkTo(address)
    const answers = await Promise.all([accept(link, '{"name":"A"}'), accept(link, '{"name":"B"}')])
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 410])
    expect((await team(shop)).members).toHaveLength(2)
  })

  test('an unknown link answers 404, and texts of others are escaped', async () => {
    for (const token of ['x', 'x'.repeat(43), '..%2f']) {
      expect((await open(`http://localhost/invitations/${token}`)).status).toBe(404)
    }
    expect((await open('http://localhost/invitations/%00')).status).toBe(400)
    const shop = await store(app)
    await shop.call(updateStore, { body: { name: '<script>alert(1)</script>' } })
    const address = `html@${shop.slug}.example.com`
    await invite(shop, address)
    const page = await (await open(await linkTo(address))).text()
    expect(page).not.toContain('<script>')
    const [mail] = await listSandboxMail(database.root as never, { to: address, limit: 1 })
    expect(mail!.html).not.toContain('<script>')
  })
})

describe('removing a member', () => {
  test('revokes their keys on every instance before the response', async () => {
    const shop = await store(app)
    const marco = await shop.person('member')
    expect((await use(shop, marco.key, other)).status).toBe(200)
    expect((await remove(shop, marco.userId)).status).toBe(204)
    expect((await use(shop, marco.key, other)).status).toBe(401)
    expect((await use(shop, marco.key)).status).toBe(401)
    expect(removed.filter((each) => each.storeId === shop.id)).toEqual([
      { storeId: shop.id, userId: marco.userId },
    ])
    const again = await remove(shop, marco.userId)
    expect([again.status, again.body.error.code]).toEqual([404, 'not_found'])
    const keys = await database.query('select revoked_reason from api_keys where user_id = $1', [
      marco.userId,
    ])
    expect(keys).toEqual([{ revoked_reason: 'member-removed' }])
    expect((await team(shop)).members).toHaveLength(1)
  })

  test('is rolled back if a section fails', async () => {
    const shop = await store(app)
    const marco = await shop.person('member')
    holding.add(shop.id)
    expect((await remove(shop, marco.userId)).status).toBe(503)
    expect((await use(shop, marco.key)).status).toBe(200)
    expect((await team(shop)).members).toHaveLength(2)
  })

  test('can be undone with an invitation, but the old keys stay revoked', async () => {
    const shop = await store(app)
    const marco = await shop.person('member')
    await remove(shop, marco.userId)
    expect((await invite(shop, marco.email, 'agent')).status).toBe(201)
    expect((await accept(await linkTo(marco.email), '{}')).status).toBe(200)
    expect((await team(shop)).members[1]).toMatchObject({ userId: marco.userId, role: 'agent' })
    expect((await use(shop, marco.key)).status).toBe(401)
  })

  test('is refused for the last owner, also by themselves', async () => {
    const shop = await store(app)
    const answer = await remove(shop, shop.userId)
    expect([answer.status, answer.body.error.message]).toEqual([409, expect.stringContaining('last owner')])
    const second = await shop.person('owner')
    expect((await remove(shop, shop.userId)).status).toBe(204)
    expect((await use(shop, shop.key)).status).toBe(401)
    expect((await remove(shop, second.userId, second.key)).status).toBe(409)
  })

  test('two owners who remove each other at once leave exactly one', async () => {
    const shop = await store(app)
    let current = { userId: shop.userId, key: shop.key }
    for (let round = 0; round < 20; round += 1) {
      const rival = await shop.person('owner')
      const answers = await Promise.all([
        remove(shop, rival.userId, current.key),
        remove(shop, current.userId, rival.key),
      ])
      const statuses = answers.map((answer) => answer.status)
      expect(statuses.filter((status) => status === 204)).toHaveLength(1)
      expect([401, 409]).toContain(statuses.find((status) => status !== 204))
      if (statuses[1] === 204) current = rival
      expect(await owners({ ...shop, key: current.key })).toBe(1)
    }
  })
})
