/** Opens the messaging providers of this server. */
import type { PortSpec } from '#runtime/ports/spec'
import { deriveKey } from '#runtime/secrets'
import type { MessagingPort } from './port.ts'
import { openSandbox } from './sandbox.ts'

declare module '#runtime/ports/ports' {
  interface SectionPorts {
    messaging: MessagingPort
  }
}

export const messagingPort: PortSpec<MessagingPort> = {
  account: 'store',
  local: ['startOfficialSetup', 'sendLimits', 'joinShared', 'leaveShared', 'history'],
  provesAccess: (method, answer) =>
    method === 'officialState' ? (answer as { status?: unknown } | undefined)?.status !== 'error' : null,
  async open({ settings, database, clock }): Promise<Record<string, MessagingPort>> {
    const { messagingUrl, messagingAppSecret, publicUrl } = settings
    const sandbox = openSandbox({
      db: database.root,
      clock,
      appSecret: messagingAppSecret ?? deriveKey(settings.secretKey, 'messaging-app').toString('hex'),
      perSecond: settings.sandboxMessagesPerSecond,
      publicUrl,
    })
    if (messagingUrl === 'sandbox') return { sandbox }
    const { readWhatsappUrl } = await import('./whatsapp/options.ts')
    const { WhatsappMessaging } = await import('./whatsapp/whatsapp.ts')
    const whatsapp = new WhatsappMessaging({
      ...readWhatsappUrl(messagingUrl, messagingAppSecret),
      callbackUrl: `${publicUrl}/hooks/messaging/whatsapp`,
    })
    // The first port in this order that has an assistant provides the assistant's number.
    return { whatsapp, sandbox }
  },
}
