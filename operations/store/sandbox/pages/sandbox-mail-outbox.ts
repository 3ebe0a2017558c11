import { jsonAnswer, page } from '#runtime/page'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { requireStoreId } from '../shop.ts'

export default page({
  method: 'GET',
  path: '/sandbox/api/mail/outbox',
  description: 'The mail that left, newest first.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  async handler(ctx, request) {
    const query = request.parameters()
    const to = query.get('to')
    const store = query.get('store')
    const mails = await listSandboxMail(ctx.root as never, {
      ...(to ? { to } : {}),
      ...(store ? { storeId: await requireStoreId(ctx, store) } : {}),
      limit: 100,
    })
    return jsonAnswer({
      data: mails.map((mail) => ({
        id: mail.id,
        to: mail.to,
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        attachments: mail.attachments.map(({ fileName, contentType, size, content }) => ({
          fileName,
          contentType,
          size,
          // The sandbox keeps attachments in the database, so a data URL carries the bytes.
          url: `data:${contentType};base64,${Buffer.from(content).toString('base64')}`,
        })),
        idempotencyKey: mail.idempotencyKey,
        calls: mail.calls,
        sentAt: new Date(mail.sentAt).toISOString(),
      })),
    })
  },
})
