import { page } from '#runtime/page'
import { findInvitation } from '../acceptance.ts'
import { closedPage, renderInvitationForm, unknownPage } from '../invitation-texts.ts'

export default page({
  method: 'GET',
  path: '/invitations/:token',
  description: 'The form behind the link of an invitation to a team.',
  trust: 'The token in the path, 32 bytes that only the invited address was sent; looking changes nothing.',
  async handler(ctx, { params }) {
    const invitation = await findInvitation(ctx, params.token!)
    if (invitation === null) return unknownPage()
    return invitation.isOpen ? renderInvitationForm(invitation) : closedPage(invitation)
  },
})
