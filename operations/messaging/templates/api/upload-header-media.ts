import { operation } from '#runtime/operation'
import { instant, line, object, z } from '#runtime/schema'
import { createHeaderUpload } from '../header-media.ts'

export default operation({
  method: 'POST',
  path: '/messaging/templates/header-media',
  description: 'Get a link to upload a picture or a video for the header of a template.',
  details:
    'JPEG and PNG to 5 MiB, MP4 and 3GPP to 16 MiB. A file that no template uses is deleted after 24 hours.',
  words: 'picture or video on top of a template',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'official-api',
  input: {
    body: object({
      fileName: line(1, 200),
      contentType: z.string().min(1).max(100),
      size: z.number().int().min(1).describe('Bytes'),
    }),
  },
  answer: {
    status: 200,
    body: object({
      uploadUrl: z.string(),
      method: z.literal('PUT'),
      headers: z.record(z.string()),
      fileUrl: z.string().describe('What header.mediaUrl takes, once the file is uploaded'),
      expiresAt: instant,
    }),
  },
  example: { body: { fileName: 'black-friday.png', contentType: 'image/png', size: 348_160 } },
  handler: (ctx, { body }) => createHeaderUpload(ctx, body),
})
