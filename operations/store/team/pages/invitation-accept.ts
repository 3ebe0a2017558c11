import { ApiError } from '#runtime/errors'
import { jsonAnswer, page } from '#runtime/page'
import { line, object } from '#runtime/schema'
import { acceptInvitation, findInvitation } from '../acceptance.ts'
import { acceptedPage, closedPage, renderInvitationForm, unknownPage } from '../invitation-texts.ts'

const body = object({ name: line(1, 120).optional() })

export default page({
  method: 'POST',
  path: '/invitations/:token',
  description: 'Accepts an invitation to a team, by form or JSON; a new person gives their name.',
  trust: 'The token in the path, 32 bytes that only the invited address was sent.',
  async handler(ctx, request) {
    const invitation = await findInvitation(ctx, request.params.token!)
    if (invitation === null) return unknownPage()
    const store = invitation.isOpen ? await ctx.forStore(invitation.storeId) : null
    if (!store) return closedPage(invitation)
    try {
      const { isJson, fields } = await request.formOrJson(body)
      if (!(await acceptInvitation(store, invitation, fields.name ?? null))) return closedPage(invitation)
      const { storeName, email, role } = invitation
      return isJson ? jsonAnswer({ status: 'accepted', storeName, email, role }) : acceptedPage(invitation)
    } catch (error) {
      const isName =
        error instanceof ApiError && error.code === 'bad_request' && error.message.startsWith('name: ')
      if (!isName || !request.wantsHtml) throw error
      return renderInvitationForm(invitation, (await request.submittedFields())?.name ?? '')
    }
  },
})
