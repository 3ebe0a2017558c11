import { environment, type SettingsOf, wholeNumber } from '#runtime/server/environment'

const declared = environment({
  STOREFRONT_READS_IP: wholeNumber(300, 1),
  STOREFRONT_WRITES_IP: wholeNumber(10, 1),
  STOREFRONT_ACCEPTED_IP: wholeNumber(20, 1),
})
export default declared

declare module '#runtime/server/settings' {
  interface Settings extends SettingsOfStorefront {}
}
type SettingsOfStorefront = SettingsOf<typeof declared.variables>
