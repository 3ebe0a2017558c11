import { parseJson, read } from '#runtime/input'
import { jsonAnswer, page } from '#runtime/page'
import { line, object } from '#runtime/schema'
import { readText } from '#runtime/web'
import { acceptInvitation, findInvitation } from '../lib/accept.ts'
import { acceptedPage, deadPage, unknownPage } from '../lib/invitation-texts.ts'

const body = object({ name: line(1, 120).optional() })
const bodyAtMost = 64 * 1024

export default page({
  method: 'POST',
  path: '/invitations/:token',
  description: 'Accepts an invitation to a team, by form or JSON; a new person says their name.',
  trust: 'The token in the path, 32 bytes that only the invited address was sent.',
  async handler(ctx, { raw, params }) {
    const invitation = await findInvitation(ctx, params.token!)
    if (invitation === null) return unknownPage()
    const store = invitation === 'dead' ? null : await ctx.forStore(invitation.storeId)
    if (invitation === 'dead' || !store) return deadPage()
    const text = await readText(raw, raw.headers.get('content-length') ?? undefined, bodyAtMost)
    const isJson = text.trimStart().startsWith('{')
    const { name } = read(body, isJson ? parseJson(text) : formOf(text), 'body') as { name?: string }
    if (!(await acceptInvitation(store, invitation, name ?? null))) return deadPage()
    const { storeName, email, role } = invitation
    return isJson ? jsonAnswer({ status: 'accepted', storeName, email, role }) : acceptedPage(invitation)
  },
})

function formOf(text: string): { name?: string } {
  const name = new URLSearchParams(text).get('name')?.trim()
  return name ? { name } : {}
}
