/** A server that sends by the WhatsApp Business Cloud API, simulated by its stand-in. */
import { afterAll } from 'vitest'
import enable from '#operations/inbox/switch/api/enable'
import { receiveHook } from '#operations/messaging/callbacks/receive'
import confirmRedirect from '#operations/messaging/official/api/confirm-redirect'
import startSetup from '#operations/messaging/official/api/start-setup'
import { buildAccountHook } from '#operations/messaging/provider/hook-body'
import { WhatsappMessaging } from '#operations/messaging/provider/whatsapp/whatsapp'
import { SystemContext } from '#runtime/context'
import { openWhatsapp } from '#test/ports/whatsapp-stand-in'
import { testApp } from './app.ts'
import { type Shop, store } from './store.ts'

export async function whatsappApp() {
  const standIn = await openWhatsapp()
  afterAll(() => standIn.close())
  const { appId, appSecret, account } = standIn
  const app = await testApp({
    messagingUrl: `whatsapp://${appId}@graph.facebook.com/v26.0?config=99`,
    messagingAppSecret: appSecret,
  })
  Object.assign(app.services.adapters.messaging, {
    whatsapp: new WhatsappMessaging({
      graphUrl: standIn.graphUrl,
      dialogUrl: 'https://www.facebook.com/v26.0/dialog/oauth',
      appId,
      appSecret,
      configId: '99',
      signupVersion: 'v4',
      callbackUrl: null,
      shared: null,
      assistant: null,
    }),
  })
  const system = new SystemContext(app.services, app.services.log, 'test')
  const fresh = structuredClone(standIn.number)
  let numbers = 0
  /** Replaces the number by a new one that nobody has connected. */
  const newNumber = (): void => {
    numbers += 1
    Object.assign(standIn.number, structuredClone(fresh), {
      id: String(106_540_000 + numbers),
      display_phone_number: `+55 11 4000-${2000 + numbers}`,
      last_onboarded_time: app.clock.now().toISOString(),
    })
    Object.assign(standIn, { otherNumbers: [], syncs: [], messages: [], requests: [] })
    standIn.templates.clear()
    standIn.fail(null)
  }
  const setUp = async (shop: Shop): Promise<{ state: string; code: string }> => {
    const { body } = await shop.call(startSetup)
    return { state: new URL(body.setupUrl).searchParams.get('state')!, code: standIn.signUp(body.setupUrl) }
  }
  const connected = async (): Promise<Shop> => {
    const shop = await store(app)
    const { status, body } = await shop.call(confirmRedirect, { body: await setUp(shop) })
    if (status !== 200 || body.status !== 'connected') throw new Error(JSON.stringify(body))
    return shop
  }
  const withInbox = async (): Promise<Shop> => {
    const shop = await connected()
    await shop.call(enable, { body: {} })
    await app.drainJobs()
    return shop
  }
  const sendHook = async (field: string, value: object): Promise<void> => {
    const time = String(Math.floor(app.clock.ms() / 1000))
    const hook = buildAccountHook(appSecret, account, time, [{ field, value }])
    await receiveHook(system, 'whatsapp', hook.headers, hook.body)
    await app.drainJobs()
  }
  const metadata = () => ({
    display_phone_number: standIn.number.display_phone_number as string,
    phone_number_id: standIn.number.id,
  })
  const seconds = (back = 0): string => String(Math.floor(app.clock.ms() / 1000) - back)
  let ids = 0
  const wamid = (): string => {
    ids += 1
    return `wamid.${numbers}.${ids}`
  }
  return { app, standIn, newNumber, setUp, connected, withInbox, sendHook, metadata, seconds, wamid }
}
