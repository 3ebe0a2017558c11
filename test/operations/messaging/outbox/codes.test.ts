/** What each lane makes of the codes that messages fail with. */
import { expect, test } from 'vitest'
import { refusalCodes } from '#operations/messaging/sending/codes'
import { mailRefusals } from '#runtime/ports/mail/port'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const shop = await store(app)
const { wired } = await shop.context()
const lanes = Object.entries(wired.senders).flatMap(([kind, sender]) =>
  sender && 'codeOf' in sender ? [[kind, sender.codeOf as (code: string) => string] as const] : [],
)
const codes = [...refusalCodes, ...mailRefusals, 'disconnected', 'quota-exceeded', 'unknown-outcome']

test('some lanes have words of their own', () => expect(lanes.length).toBeGreaterThan(0))

test.each(lanes)('%s: its own words stay as they are, and so does what nobody knows', (_kind, codeOf) => {
  for (const code of codes) expect([code, codeOf(codeOf(code))]).toEqual([code, codeOf(code)])
  expect(codeOf('unknown-outcome')).toBe('unknown-outcome')
})
