import { z } from 'zod';
import { bytes } from './scalars.ts';

/** `portico stdio`. */
const StdioSettings = z.strictObject({
  token: z
    .string()
    .default('')
    .describe(
      'Access token that portico stdio reads the platform with. Take it from the environment, as "${NAME}". Empty: portico stdio does not start.',
    ),
});

/** MCP, over HTTP and over stdio. */
export const McpSettings = z.strictObject({
  enabled: z.boolean().default(true).describe('Whether POST /mcp is answered.'),
  tools: z
    .boolean()
    .default(true)
    .describe('Whether the resources are offered as tools, too: most assistants see tools only.'),
  maxBodyBytes: bytes(1024).default(1_048_576).describe('Largest message of a client; over HTTP, more is 413.'),
  maxResultBytes: bytes(1024)
    .default(65_536)
    .describe('Largest result of a tool, so that it fits a model; instead of more, the tool says how to narrow it.'),
  stdio: StdioSettings.prefault({}).describe('What portico stdio alone needs.'),
});
