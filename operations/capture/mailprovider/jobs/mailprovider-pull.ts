import { connections } from '#operations/store/door'
import { job } from '#runtime/job'
import { mailproviderPull } from '../../handles.ts'
import { pullLeavers } from '../pull.ts'
import { pushForgotten } from '../push.ts'

export default job(mailproviderPull, {
  description:
    'Asks the email provider who has left its list: they leave here too; and pushes whom no push looks after.',
  every: { seconds: 3600, stores: connections.storesConnected('mailingList') },
  retry: { limit: 2, backoffSeconds: 300 },
  timeoutSeconds: 600,
  safeTwice: 'Who left has left; the second run asks from where the first began.',
  async run(ctx, _payload, { signal }) {
    // One that is silent is waited for by the push that found it so, which tells of it in the end.
    if (await pullLeavers(ctx, signal)) await pushForgotten(ctx)
  },
})
