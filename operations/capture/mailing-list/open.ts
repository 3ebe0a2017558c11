/** Opens the email providers of this server. */
import type { PortSpec } from '#runtime/ports/spec'
import type { MailingListPort } from './port.ts'
import { openMailingLists } from './providers.ts'
import { sandboxMailingList } from './sandbox.ts'

declare module '#runtime/ports/ports' {
  interface SectionPorts {
    mailingList: MailingListPort
  }
}

export const mailingListPort: PortSpec<MailingListPort> = {
  account: 'store',
  async open({ settings, database, clock }) {
    const sandbox = sandboxMailingList({ db: database.root, clock })
    return { sandbox, ...(await openMailingLists(settings.mailingListUrl)) }
  },
}
