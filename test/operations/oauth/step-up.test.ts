/** An assistant asks for more than it was granted, and the merchant decides. */
import { expect, test } from 'vitest'
import { listKeys, revokeKey } from '#scripts/admin/keys'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'
import { type Assistant, hand, hidden, origin, queryOf, type Tokens } from './assistant.ts'

const app = await testApp({ publicUrl: origin })
const it = hand(app)

/** The second page, for an assistant that asks for these scopes. */
async function page(who: Assistant, key: string, scope: string): Promise<string> {
  const answer = await it.ownForm('/oauth/authorize', { request: await it.asked(who, { scope }), key })
  return answer.text()
}

/** Each offered scope: whether it is preselected, and its mark. */
const offered = (html: string) =>
  Object.fromEntries(
    [
      ...html.matchAll(
        /name="(?<scope>[a-z]+:[a-z]+)" value="on"(?<checked> checked)?>.*?<\/code>(?: <mark[^>]*>(?<mark>[^<]+)<\/mark>)?/g,
      ),
    ].map(({ groups }) => [groups!.scope, [groups!.checked !== undefined, groups!.mark ?? null]]),
  )

const decide = (html: string, fields: Record<string, string>) =>
  it.ownForm('/oauth/consent', { consent: hidden(html, 'consent'), days: '30', ...fields })

const more = 'platform:read platform:write messages:send'

test('the page marks what the assistant already has and what is new; the new token has both', async () => {
  const shop = await store(app, { locale: 'en' })
  const { who, tokens } = await it.connect(shop.key)
  expect(tokens.scope).toBe('platform:read')
  const html = await page(who, shop.key, more)
  expect(offered(html)).toEqual({
    'platform:read': [true, 'already allowed'],
    'platform:write': [false, 'new'],
    'messages:send': [false, 'new'],
  })
  expect(html).toContain('Helper is already connected to')
  expect(html).toContain('Tick what is new')

  const answer = await decide(html, { decision: 'yes', 'platform:read': 'on', 'platform:write': 'on' })
  const larger = (await (await it.exchange(who, queryOf(answer).get('code')!)).json()) as Tokens
  expect(larger.scope).toBe('platform:read platform:write')
  expect([await it.use(larger.access_token), await it.use(tokens.access_token)]).toEqual([200, 200])

  // The next request marks what both grants have.
  expect(offered(await page(who, shop.key, more))).toMatchObject({
    'platform:write': [true, 'already allowed'],
    'messages:send': [false, 'new'],
  })
  expect(await page(who, shop.key, 'platform:read platform:write')).not.toContain('Tick what is new')
})

test('a refusal of the merchant leaves what the assistant has', async () => {
  const shop = await store(app, { locale: 'en' })
  const { who, tokens } = await it.connect(shop.key)
  const answer = await decide(await page(who, shop.key, more), { decision: 'no' })
  expect(queryOf(answer).get('error')).toBe('access_denied')
  expect(await it.use(tokens.access_token)).toBe(200)
  const renewed = await it.refresh(who, tokens.refresh_token)
  expect(await renewed.json()).toMatchObject({ scope: 'platform:read' })
})

test('another assistant, another member and an ended grant have nothing already', async () => {
  const shop = await store(app, { locale: 'en' })
  const { who, tokens } = await it.connect(shop.key)
  const fresh = {
    'platform:read': [true, null],
    'platform:write': [false, null],
    'messages:send': [false, null],
  }
  expect(offered(await page(await it.assistant(), shop.key, more))).toEqual(fresh)
  const person = await shop.person('member')
  expect(offered(await page(who, person.key, more))).toMatchObject({ 'platform:read': [true, null] })
  await it.revoke(who, tokens.refresh_token)
  expect(offered(await page(who, shop.key, more))).toEqual(fresh)

  const again = await it.connect(shop.key)
  const [child] = await listKeys(app.database, shop.id)
  expect(child!.parentId).not.toBeNull()
  await revokeKey(app.database, app.clock.now(), shop.id, child!.id)
  expect(offered(await page(again.who, shop.key, more))).toEqual(fresh)
  const last = await it.connect(shop.key)
  await app.advance(30 * 24 * 3600_000)
  expect(offered(await page(last.who, shop.key, more))).toEqual(fresh)
})

test('a key that lacks what is asked for says so; another key of the same member can grant it', async () => {
  const shop = await store(app, { locale: 'en' })
  const reader = await shop.key_(['platform:read'])
  const { who } = await it.connect(reader)
  const html = await page(who, reader, more)
  expect(offered(html)).toEqual({ 'platform:read': [true, 'already allowed'] })
  expect(html).toContain('It also asks for platform:write, messages:send, which your key cannot allow')
  const wider = await page(who, shop.key, more)
  expect(wider).not.toContain('It also asks for')
  expect(offered(wider)).toMatchObject({
    'platform:read': [true, 'already allowed'],
    'platform:write': [false, 'new'],
  })
})
