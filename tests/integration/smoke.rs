use pgsluice_testcontainers::Database;

#[tokio::test]
async fn a_fresh_database_answers() {
    let database = Database::new().await;
    let row = database.client().await.query_one("select 1", &[]).await.unwrap();
    assert_eq!(row.get::<_, i32>(0), 1);
}
