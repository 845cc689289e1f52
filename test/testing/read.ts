import type { TestGateway } from '../../src/testing/start-gateway.ts';

export async function read({ url }: TestGateway, name: string, token: string) {
  const response = await fetch(`${url}/mcp/v1/resources/read?uri=platform://${name}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: (await response.json()) as unknown };
}
