import { connections } from '#operations/store/index'
import { job } from '#runtime/job'
import { mailproviderPull } from '../../handles.ts'
import { pullUnsubscribes } from '../pull.ts'
import { queueDuePush } from '../push.ts'

export default job(mailproviderPull, {
  description:
    'Applies unsubscribes at the email provider here, and queues a push for subscribers left without one.',
  every: { seconds: 3600, stores: connections.storesConnectedTo('mailingList') },
  retry: { limit: 2, backoffSeconds: 300 },
  timeoutSeconds: 600,
  safeTwice: 'Unsubscribing is idempotent; the second run starts where the first one did.',
  async run(ctx, _payload, { signal }) {
    // Queues nothing after a pull that did not reach the provider. A pending push then notifies the merchant once its
    // retries are used up.
    if (await pullUnsubscribes(ctx, signal)) await queueDuePush(ctx)
  },
})
