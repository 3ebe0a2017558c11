import { connections } from '#operations/store/door'
import { job } from '#runtime/job'
import { mailproviderPull } from '../../handles.ts'
import { pullLeavers } from '../pull.ts'
import { pushForgotten } from '../push.ts'

export default job(mailproviderPull, {
  description:
    'Asks the email provider who has left its list: they leave here too; and pushes whom no push looks after.',
  every: { seconds: 3600, stores: connections.listedStores },
  retry: { limit: 2, backoffSeconds: 300 },
  timeoutSeconds: 600,
  safeTwice: 'Who left has left; the second run asks from where the first began.',
  async run(ctx, _payload, { signal }) {
    await pullLeavers(ctx, signal)
    // It answers, so there is no waiting for it.
    await pushForgotten(ctx)
  },
})
