import { page } from '#runtime/page'
import { answeringOauth } from '../../errors.ts'
import { limit } from '../../limits.ts'
import { readFields } from '../fields.ts'
import { revoke } from '../revoke.ts'

export default page({
  method: 'POST',
  path: '/oauth/revoke',
  description: 'Ends what an assistant was granted, for one of its tokens (RFC 7009).',
  trust: 'The token itself, which is ended. What is unknown is answered alike.',
  handler: answeringOauth(async (ctx, request) => {
    await limit(ctx, 'tokens', request.ip)
    const fields = await readFields(request)
    await revoke(ctx, fields.required('token'), fields.required('client_id'))
    return new Response(null, { status: 200, headers: { 'cache-control': 'no-store' } })
  }),
})
