import { operation } from '#runtime/operation'
import { object, z } from '#runtime/schema'
import { confirmSetup } from '../confirm.ts'
import { readOfficial } from '../read.ts'
import { officialConnection } from '../schema.ts'

const handedBack = z.string().min(1, 'must not be empty').max(4000)

export default operation({
  method: 'POST',
  path: '/officialapi/confirm-redirect',
  description: "Finish the setup of an official number with what came back from the provider's page.",
  details:
    'Send the state, and exactly one of code and error. A refusal that begins with `pin` or `numberId` asks the ' +
    'merchant for it: the same call with that field goes on. `numberId` and `accountId` are known before where ' +
    "the provider's page was opened by its own script, from its session info.",
  words: 'finish the setup of the official number',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  feature: 'official-api',
  transaction: 'own',
  input: {
    body: object({
      state: handedBack,
      code: handedBack.optional(),
      error: handedBack.optional(),
      errorDescription: z.string().max(4000).optional(),
      pin: z
        .string()
        .regex(/^\d{6}$/, 'must be six digits')
        .optional()
        .describe("Of the number's two-step verification, where it has one that was not set here"),
      numberId: z
        .string()
        .regex(/^\d{1,40}$/, 'must be digits')
        .optional(),
      accountId: z
        .string()
        .regex(/^\d{1,40}$/, 'must be digits')
        .optional(),
    }),
  },
  answer: { status: 200, body: officialConnection },
  refuses: {
    not_found: 'The state is of no setup of this store',
    conflict: 'The link is over, replaced or confirmed already; or the number is connected to another store',
  },
  etag: true,
  ifMatch: ['/officialapi/status'],
  example: { body: { state: 'the state of the return address', code: 'the code of the return address' } },
  async handler(ctx, { body }) {
    await confirmSetup(ctx, body)
    return readOfficial(ctx)
  },
})
