import { connections } from '#operations/store/door'
import { job } from '#runtime/job'
import { mailproviderPull } from '../../handles.ts'
import { pullLeavers } from '../pull.ts'

export default job(mailproviderPull, {
  description: 'Asks the email provider who has left its list: they leave here too.',
  every: { seconds: 3600, stores: connections.listedStores },
  retry: { limit: 2, backoffSeconds: 300 },
  timeoutSeconds: 600,
  safeTwice: 'Who left has left; the second run asks from where the first began.',
  run: (ctx, _payload, { signal }) => pullLeavers(ctx, signal),
})
