/** How each outbox source maps failure codes. */
import { expect, test } from 'vitest'
import { providerErrorCodes } from '#operations/messaging/sending/codes'
import { mailRefusalCodes } from '#runtime/ports/mail/port'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()
const shop = await store(app)
const { extensions } = await shop.context()
const sources = Object.entries(extensions.senders).flatMap(([kind, sender]) =>
  sender && 'toStoredCode' in sender
    ? [[kind, sender.toStoredCode as (code: string) => string] as const]
    : [],
)
const codes = [
  ...providerErrorCodes,
  ...mailRefusalCodes,
  'disconnected',
  'quota-exceeded',
  'unknown-outcome',
]

test('some sources have codes of their own', () => expect(sources.length).toBeGreaterThan(0))

test.each(sources)('%s: its own codes and unknown-outcome stay as they are', (_kind, codeOf) => {
  for (const code of codes) expect([code, codeOf(codeOf(code))]).toEqual([code, codeOf(code)])
  expect(codeOf('unknown-outcome')).toBe('unknown-outcome')
})
