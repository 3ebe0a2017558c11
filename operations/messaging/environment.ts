import { z } from '#runtime/schema'
import {
  environment,
  findReadIssues,
  optionalText,
  type SettingsOf,
  wholeNumber,
} from '#runtime/server/environment'
import { readWhatsappUrl } from './provider/whatsapp/options.ts'

const declared = environment(
  {
    MESSAGING_URL: z
      .string()
      .regex(/^(whatsapp:\/\/.+|sandbox)$/, 'must begin with whatsapp://')
      .default('sandbox'),
    MESSAGING_APP_SECRET: optionalText,
    /** Verify token of the provider's callbacks; null refuses every verification. */
    MESSAGING_VERIFY_TOKEN: optionalText,
    SANDBOX_MESSAGES_PER_SECOND: wholeNumber(500, 1),
    /** Maximum number of assistant requests per store and message cycle. */
    CHAT_AGENT_REQUESTS: wholeNumber(1000, 1),
  },
  ({ messagingUrl: url, messagingAppSecret: secret }) => {
    if (url === undefined || url === 'sandbox') return []
    return findReadIssues('MESSAGING_URL', () => readWhatsappUrl(url, secret ?? null))
  },
)
export default declared

declare module '#runtime/server/settings' {
  interface Settings extends SettingsOfMessaging {}
}
type SettingsOfMessaging = SettingsOf<typeof declared.variables>
