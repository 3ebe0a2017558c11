import { environment, type SettingsOf } from '#runtime/server/environment'
import { mailingListUrl } from './mailing-list/providers.ts'

const declared = environment({ MAILING_LIST_URL: mailingListUrl.default('sandbox') })
export default declared

declare module '#runtime/server/settings' {
  interface Settings extends SettingsOfCapture {}
}
type SettingsOfCapture = SettingsOf<typeof declared.variables>
