/** Test emails have no row: the provider deduplicates them by the idempotency key. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { Unavailable } from '#runtime/ports/errors'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { testApp, wholeRegistry } from '#test/support/app'
import { connectedStore } from '#test/support/platform'

const { operations } = await wholeRegistry()
const app = await testApp()

test.each(
  operations.filter(({ spec }) => spec.path.endsWith('/send-test-email')).map(({ spec }) => spec.path),
)('%s: what left and was not heard of leaves no second time under its key', async (path) => {
  const shop = await connectedStore(app)
  const to = `${path.split('/')[1]}@example.com`
  const send = (key: string) =>
    shop.request('POST', path, { body: { email: to }, headers: { 'idempotency-key': key } })
  const { mail } = app.services.adapters
  const { send: sends } = mail
  vi.spyOn(mail, 'send').mockImplementationOnce(async (each) => {
    await sends.call(mail, each)
    throw new Unavailable('unknown')
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const arrived = async () => (await listSandboxMail(app.database.root as never, { to })).length
  expect([(await send('one')).status, (await send('one')).status, await arrived()]).toEqual([503, 200, 1])
  expect([(await send('another')).status, await arrived()]).toEqual([200, 2])
  await app.advance(25 * 3_600_000)
  expect([(await send('one')).status, await arrived()]).toEqual([200, 3])
})
